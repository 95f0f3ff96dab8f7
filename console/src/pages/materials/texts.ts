import type { Same } from '../../i18n/same'

export const en = {
  title: 'Materials',
}

export const zh: Same<typeof en> = {
  title: '资料',
}
