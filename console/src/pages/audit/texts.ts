import type { Same } from '../../i18n/same'

export const en = {
  title: 'Audit',
}

export const zh: Same<typeof en> = {
  title: '审计',
}
