import type { Same } from '../../i18n/same'

export const en = {
  title: 'Skill experience',
}

export const zh: Same<typeof en> = {
  title: '技能经验',
}
