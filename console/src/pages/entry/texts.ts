import type { Same } from '../../i18n/same'

export const en = {
  title: 'Entry',
}

export const zh: Same<typeof en> = {
  title: '条目',
}
