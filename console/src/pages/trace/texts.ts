import type { Same } from '../../i18n/same'

export const en = {
  title: 'Trace',
}

export const zh: Same<typeof en> = {
  title: '溯源',
}
