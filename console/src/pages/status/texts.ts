import type { Same } from '../../i18n/same'

export const en = {
  title: 'Status',
}

export const zh: Same<typeof en> = {
  title: '状态',
}
