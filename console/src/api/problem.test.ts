import { expect, test } from 'vitest'
import { problemOf } from './problem.ts'

test('a refusal keeps its text, code and request', async () => {
  const body = { statusCode: 404, message: 'Customer not found', code: 'x', requestId: 'req_1' }
  const problem = await problemOf(Response.json(body, { status: 404 }))
  expect(problem).toMatchObject({
    status: 404,
    message: 'Customer not found',
    code: 'x',
    requestId: 'req_1',
  })
})

test('each invalid field is named', async () => {
  const errors = [
    { path: ['credits'], message: 'Too small' },
    { path: ['a', 0], message: 'Missing' },
  ]
  const problem = await problemOf(
    Response.json({ message: 'Validation failed', errors }, { status: 400 }),
  )
  expect(problem.message).toBe('credits: Too small. a.0: Missing')
})

test('a page of a proxy becomes a text with its status', async () => {
  const problem = await problemOf(new Response('<html>', { status: 502 }))
  expect(problem).toMatchObject({
    status: 502,
    message: 'The server answered with status 502.',
    code: null,
  })
})
