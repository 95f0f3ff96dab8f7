import type { Same } from '../../i18n/same'

export const en = {
  title: 'Agent Library',
}

export const zh: Same<typeof en> = {
  title: 'Agent 资料库',
}
