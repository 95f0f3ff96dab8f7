import type { Same } from '../../i18n/same'

export const en = {
  title: 'Dreaming',
}

export const zh: Same<typeof en> = {
  title: '梦境整理',
}
