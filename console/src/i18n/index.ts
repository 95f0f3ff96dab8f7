/** Texts in English and Chinese. Each part of the console keeps its own in a `texts.ts` beside it. */
import i18next, { type i18n } from 'i18next'
import { initReactI18next } from 'react-i18next'

import { resources } from './resources'

export const LANGUAGES = { en: 'English', zh: '中文' } as const
export type Language = keyof typeof LANGUAGES

const KEY = 'rootward.language'

export async function startTexts(): Promise<i18n> {
  await i18next.use(initReactI18next).init({
    resources,
    lng: chosen(),
    fallbackLng: 'en',
    defaultNS: 'shell',
    showSupportNotice: false,
    interpolation: { escapeValue: false },
  })
  document.documentElement.lang = i18next.language
  return i18next
}

export async function speak(language: Language): Promise<void> {
  window.localStorage.setItem(KEY, language)
  await i18next.changeLanguage(language)
  document.documentElement.lang = language
}

function chosen(): Language {
  const kept = window.localStorage.getItem(KEY) ?? navigator.language
  return kept.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}
