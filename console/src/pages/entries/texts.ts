import type { Same } from '../../i18n/same'

export const en = {
  title: 'Entries',
}

export const zh: Same<typeof en> = {
  title: '条目',
}
