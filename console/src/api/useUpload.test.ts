import { expect, it } from 'vitest'

import { multipart } from './useUpload'

it('puts the file where the variable is, and nothing of it into the operation', () => {
  const file = new File(['kiln'], 'kiln.txt')
  const variables = { kb: 'k', file }
  const form = multipart('mutation M($kb: ID!, $file: Upload!) { m }', variables)
  expect([...form.keys()]).toEqual(['operations', 'map', 'file'])
  expect(JSON.parse(form.get('operations') as string)).toMatchObject({ variables: { kb: 'k', file: null } })
  expect(JSON.parse(form.get('map') as string)).toEqual({ file: ['variables.file'] })
  expect((form.get('file') as File).name).toBe('kiln.txt')
})
