import type { Same } from '../../i18n/same'

export const en = {
  title: 'Compare two moments',
}

export const zh: Same<typeof en> = {
  title: '比较两个时刻',
}
