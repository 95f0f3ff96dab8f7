import { expect, it } from 'vitest'

import { ZH as refusals } from '../ui/refusals'
import { resources } from './resources'

/** Half of the width of a character, as Latin script has them. */
const latinMarks = /[\u4e00-\u9fff}] ?[,:;!?()]|[,:;!?()][\u4e00-\u9fff]/

const places = /\{\{\w+\}\}/g

function texts(found: object, path = ''): [string, string][] {
  return Object.entries(found).flatMap(([key, value]: [string, unknown]) =>
    typeof value === 'string'
      ? [[`${path}${key}`, value] as [string, string]]
      : texts(value as object, `${path}${key}.`),
  )
}

it('says everything in both languages, with the same places for values', () => {
  const chinese = new Map(texts(resources.zh))
  for (const [key, english] of texts(resources.en)) {
    const other = chinese.get(key)
    expect(other, key).toBeTruthy()
    expect([...(other ?? '').matchAll(places)].map(String).sort(), key).toEqual(
      [...english.matchAll(places)].map(String).sort(),
    )
  }
  expect(chinese.size).toBe(texts(resources.en).length)
})

it('sets Chinese with its own punctuation', () => {
  const said = [...texts(resources.zh), ...texts(refusals)]
  expect(said.filter(([, text]) => latinMarks.test(text))).toEqual([])
})
