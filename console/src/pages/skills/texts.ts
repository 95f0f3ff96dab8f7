import type { Same } from '../../i18n/same'

export const en = {
  title: 'Skill experience',
  intro:
    'What Dreaming and the Agent learned about kinds of work. It is changed or deleted in the Agent Library.',
  none: 'Nothing was learned about any Skill yet.',
  noLessons: 'No lessons yet.',
  lessonsOf: 'Lessons of {{name}}',
  enabled: 'enabled',
  disabled: 'disabled',
  notLoaded: 'This Skill is disabled: its lessons are kept but not loaded.',
  edit: 'Edit in Agent Library',
  editOf: 'Edit in Agent Library: {{name}}',
  tokens: '{{used}} of {{allowed}} tokens used',
  origins: {
    HUMAN_CORRECTION: 'a person’s correction',
    FAILURE_RECOVERY: 'a failure that was overcome',
    NONOBVIOUS_SUCCESS: 'a success that was not obvious',
    AGENT_ADDED: 'added by the Agent',
    HUMAN_EDIT: 'edited by a person',
  },
}

export const zh: Same<typeof en> = {
  title: '技能经验',
  intro: '梦境整理和 Agent 对各类工作的经验。修改和删除在 Agent 资料库中进行。',
  none: '还没有任何技能经验。',
  noLessons: '还没有经验。',
  lessonsOf: '{{name}} 的经验',
  enabled: '已启用',
  disabled: '已停用',
  notLoaded: '此技能已停用：其经验保留但不会加载。',
  edit: '在 Agent 资料库中编辑',
  editOf: '在 Agent 资料库中编辑：{{name}}',
  tokens: '已用 {{used}} / {{allowed}} 个 token',
  origins: {
    HUMAN_CORRECTION: '人员的更正',
    FAILURE_RECOVERY: '克服的失败',
    NONOBVIOUS_SUCCESS: '不易得的成功',
    AGENT_ADDED: 'Agent 添加',
    HUMAN_EDIT: '人员编辑',
  },
}
