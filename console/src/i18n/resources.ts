/** All texts by language and part; the keys of `en` are the type of every `t(…)`. */
import * as shell from '../app/texts'
import * as developers from '../developers/texts'
import * as audit from '../pages/audit/texts'
import * as compare from '../pages/compare/texts'
import * as dreaming from '../pages/dreaming/texts'
import * as entries from '../pages/entries/texts'
import * as entry from '../pages/entry/texts'
import * as library from '../pages/library/texts'
import * as materials from '../pages/materials/texts'
import * as relations from '../pages/relations/texts'
import * as settings from '../pages/settings/texts'
import * as skills from '../pages/skills/texts'
import * as status from '../pages/status/texts'
import * as trace from '../pages/trace/texts'
import * as ui from '../ui/texts'

const en = {
  shell: shell.en,
  ui: ui.en,
  entries: entries.en,
  entry: entry.en,
  materials: materials.en,
  skills: skills.en,
  dreaming: dreaming.en,
  audit: audit.en,
  status: status.en,
  trace: trace.en,
  compare: compare.en,
  relations: relations.en,
  settings: settings.en,
  library: library.en,
  developers: developers.en,
}

const zh = {
  shell: shell.zh,
  ui: ui.zh,
  entries: entries.zh,
  entry: entry.zh,
  materials: materials.zh,
  skills: skills.zh,
  dreaming: dreaming.zh,
  audit: audit.zh,
  status: status.zh,
  trace: trace.zh,
  compare: compare.zh,
  relations: relations.zh,
  settings: settings.zh,
  library: library.zh,
  developers: developers.zh,
}

export const resources = { en, zh } as const

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'shell'
    resources: typeof en
  }
}
