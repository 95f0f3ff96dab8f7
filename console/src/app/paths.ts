/** Addresses of the console: owner, tab, open object and editor page are in them (CO-2, CO-6). */
export const TABS = ['entries', 'materials', 'skill-experience', 'dreaming', 'audit', 'status'] as const
export type Tab = (typeof TABS)[number]

export const EDITOR_PAGES = ['edit', 'projection', 'audit', 'relations'] as const
export type EditorPage = (typeof EDITOR_PAGES)[number]

export const isTab = (found: string | undefined): found is Tab => TABS.some((tab) => tab === found)

const part = encodeURIComponent

export const tabPath = (owner: string, tab: Tab): string => `/knowledge/${part(owner)}/${tab}`

export const entryPath = (owner: string, entry: string, page?: EditorPage): string =>
  `${tabPath(owner, 'entries')}/${part(entry)}${page ? `/${page}` : ''}`

export const materialPath = (owner: string, material: string): string =>
  `${tabPath(owner, 'materials')}/${part(material)}`

export const auditRecordPath = (owner: string, record: string): string =>
  `${tabPath(owner, 'audit')}?record=${part(record)}`

/** The chain from a statement to its sources, or from a source to what rests on it. */
export const tracePath = (owner: string, node: string): string =>
  `/knowledge/${part(owner)}/trace/${part(node)}`

export const comparePath = (owner: string, entry?: string): string =>
  `/knowledge/${part(owner)}/compare${entry ? `?entry=${part(entry)}` : ''}`

export const libraryPath = (agent: string): string => `/agents/${part(agent)}/library`

export const SETTINGS_PATH = '/settings/memory'
export const DEVELOPERS_PATH = '/developers'
