import type { Same } from '../../i18n/same'

export const en = {
  title: 'Memory settings',
}

export const zh: Same<typeof en> = {
  title: '记忆设置',
}
