import type { Same } from '../i18n/same'

export const en = {
  title: 'GraphiQL',
  intro: 'For developers of clients: every request is made as you, with your rights, on the real data.',
  query: 'Query',
  variables: 'Variables',
  answer: 'Answer',
}

export const zh: Same<typeof en> = {
  title: 'GraphiQL',
  intro: '供客户端开发者使用：每个请求都以你的身份和权限作用于真实数据。',
  query: '查询',
  variables: '变量',
  answer: '响应',
}
