import { expect, test } from 'vitest'
import { lastErrorIn } from './last-error.ts'

test.each([
  ['', undefined],
  ['{"level":30,"msg":"ready"}\n', undefined],
  ['{"level":60,"err":{"message":"disk full"},"msg":"could not start"}\n', 'disk full'],
  ['{"err":{"message":"old"}}\n{"err":{"message":"new"}}\n{"level":30,"msg":"bye"}\n', 'new'],
  ['Error: Cannot find module\n    at main.js:1\nNode.js v20\n', 'Error: Cannot find module'],
  ['{"err":{"message":"cut', undefined],
])('finds the reason in %j', (tail, reason) => {
  expect(lastErrorIn(tail)).toBe(reason)
})
