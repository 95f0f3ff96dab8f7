import { describe, expect, test } from 'vitest'

import { isSubscription } from './fetcher'

describe('which way an operation goes', () => {
  test.each([
    ['{ viewer { id } }', null, false],
    ['subscription { auditFeed { id } }', null, true],
    ['query A { viewer { id } } subscription B { auditFeed { id } }', 'A', false],
    ['query A { viewer { id } } subscription B { auditFeed { id } }', 'B', true],
    ['subscription { not finished', null, false],
  ])('%s', (query, operationName, expected) => {
    expect(isSubscription({ query, operationName })).toBe(expected)
  })
})
