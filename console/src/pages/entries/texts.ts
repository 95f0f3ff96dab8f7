import type { Same } from '../../i18n/same'

export const en = {
  title: 'Entries',
  search: 'Search entries',
  searchHint: 'Name, alias, summary or body',
  searchClear: 'Clear the search',
  filtersSet: 'Filters ({{count}})',
  filter: {
    type: 'Type',
    kb: 'Knowledge base',
    author: 'Author',
    from: 'Updated from',
    to: 'Updated up to',
  },
  citing: 'Only entries that cite one source.',
  none: 'No entries yet. They appear when people write them, or when Dreaming learns from conversations.',
  noneFound: 'No entry fits the search and the filters.',
  column: {
    name: 'Name',
    type: 'Type',
    kb: 'Knowledge base',
    blocks: 'Blocks',
    author: 'Last author',
    updated: 'Last update',
  },
  mark: { mirror: 'mirror', disputed: 'disputed', stale: 'stale' },
  create: {
    open: 'New entry',
    title: 'New entry',
    name: 'Name',
    type: 'Type',
    kb: 'Knowledge base',
    noKb: 'This agent has no knowledge base yet: its first conversation makes one.',
    text: 'First block',
    textHint: 'One statement that holds. More can be added in the editor.',
    summary: 'Summary',
    aliases: 'Aliases',
    aliasesHint: 'Other names; Enter adds one.',
  },
  guide: {
    title: 'Curation Guide',
    none: 'Not written yet. It tells Dreaming what deserves an entry.',
    version: 'Version {{version}} by {{by}}',
    edit: 'Edit guide',
    write: 'Write the guide',
    show: 'Show the guide',
    hide: 'Hide the guide',
    explained:
      'Dreaming reads this text in every run from the next on. Between the two lines of dashes, types adds types of entries and minEvidence asks for that many distinct sources of a new entry; both are enforced.',
    text: 'Guide',
    textHint: 'Markdown, up to 8,000 characters.',
    preview: 'Preview',
    line: 'Line {{line}}: {{message}}',
    goToLine: 'Go to line {{line}}',
    front:
      'between lines of three dashes stand types, a list of words of a-z, 0-9, - and _ that begin with a letter, and minEvidence, 1 to 10',
    outline: `---
types: []
minEvidence: 1
---

# Curation Guide

## Domain types

Which things matter here beyond persons, organizations and projects? List their types above, and say what each stands for.

## Threshold for a new entry

When does a topic deserve an entry of its own? When is it a block of another one?

## Classification

Which type fits what? Where do doubtful cases go?

## Update rules

What is updated when something changes? What is kept as history? Which source counts more?
`,
  },
}

export const zh: Same<typeof en> = {
  title: '条目',
  search: '搜索条目',
  searchHint: '名称、别名、摘要或正文',
  searchClear: '清除搜索',
  filtersSet: '筛选（{{count}}）',
  filter: { type: '类型', kb: '知识库', author: '作者', from: '更新时间从', to: '更新时间至' },
  citing: '仅显示引用某一来源的条目。',
  none: '还没有条目。由人撰写，或由梦境整理从对话中学到后，会显示在这里。',
  noneFound: '没有符合搜索和筛选条件的条目。',
  column: {
    name: '名称',
    type: '类型',
    kb: '知识库',
    blocks: '段落',
    author: '最后作者',
    updated: '最后更新',
  },
  mark: { mirror: '镜像', disputed: '有争议', stale: '过时' },
  create: {
    open: '新建条目',
    title: '新建条目',
    name: '名称',
    type: '类型',
    kb: '知识库',
    noKb: '这个 Agent 还没有知识库：第一次对话时会建立。',
    text: '第一个段落',
    textHint: '一条成立的陈述。更多内容可在编辑器中添加。',
    summary: '摘要',
    aliases: '别名',
    aliasesHint: '其他名称；按回车添加。',
  },
  guide: {
    title: '整理指南',
    none: '尚未撰写。它告诉梦境整理什么值得建立条目。',
    version: '版本 {{version}}，作者 {{by}}',
    edit: '编辑指南',
    write: '撰写指南',
    show: '显示指南',
    hide: '收起指南',
    explained:
      '从下一次运行起，梦境整理每次都会阅读这段文本。两行短横线之间：types 增加条目类型，minEvidence 要求新条目至少有这么多不同的来源；两者都会强制执行。',
    text: '指南',
    textHint: 'Markdown，最多 8,000 个字符。',
    preview: '预览',
    line: '第 {{line}} 行：{{message}}',
    goToLine: '跳到第 {{line}} 行',
    front:
      '两行 --- 之间只写 types（由 a-z、0-9、- 和 _ 组成、以字母开头的词的列表）和 minEvidence（1 到 10 的整数）',
    outline: `---
types: []
minEvidence: 1
---

# 整理指南

## 领域类型

除了人员、组织和项目之外，这里还有哪些重要的事物？在上方列出它们的类型，并说明各自代表什么。

## 新条目的门槛

一个主题什么时候值得单独建立条目？什么时候只是其他条目中的一个段落？

## 分类

什么内容归入哪种类型？有疑问时归到哪里？

## 更新规则

情况变化时更新什么？哪些保留为历史？哪个来源更可信？
`,
  },
}
