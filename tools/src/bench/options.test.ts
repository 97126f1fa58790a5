import { beforeAll, expect, test } from 'vitest'
import { program, type Options } from './options.ts'

beforeAll(() => {
  program.exitOverride().configureOutput({ writeErr: () => undefined })
})

function parse(...parameters: string[]): Options {
  return program.parse(parameters, { from: 'user' }).opts<Options>()
}

test('measures five rounds for figures that are recorded or compared', () => {
  expect(parse()).toMatchObject({ repeats: 3, write: false, compare: false })
  expect(parse('--write')).toMatchObject({ repeats: 5, seconds: 3, write: true })
  expect(parse('--compare', '--engines')).toMatchObject({ repeats: 5, seconds: 3, compare: true })
  expect(parse('--write', '--compare')).toMatchObject({ repeats: 5, write: true, compare: true })
})

test('keeps rounds and seconds that the user gives', () => {
  expect(parse('--write', '-r', '2')).toMatchObject({ repeats: 2, seconds: 3 })
  expect(parse('-s', '1', '--compare')).toMatchObject({ repeats: 5, seconds: 1 })
})

test('refuses to record a part, because the rest would be lost', () => {
  expect(() => parse('--write', '--only', 'management')).toThrow("'--only <part>'")
  expect(parse('--compare', '--only', 'management')).toMatchObject({ only: 'management' })
})

test.each(['--billing', '--behind', '--webhooks', '--charges', '--mcp', '--workers'])(
  'refuses %s with recorded figures',
  (other) => {
    const given = other === '--workers' ? [other, '2'] : [other]
    expect(() => parse('--write', ...given)).toThrow(other)
    expect(() => parse('--compare', ...given)).toThrow(other)
  },
)
