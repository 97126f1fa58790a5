import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { curlOf, queryText } from './curl.ts'

/** Returns the arguments that a shell passes to the command. */
function argumentsOf(command: string): string[] {
  const script = `curl() { for each in "$@"; do printf '%s\\0' "$each"; done; }\n${command}`
  const env = { SECRET_KEY: 'sk_sandbox_1' }
  return execFileSync('sh', ['-c', script], { encoding: 'utf8', env }).split('\0').slice(0, -1)
}

test('a shell passes the address, the key and the body as they are', () => {
  const url = 'https://billing.example/v1/ui/usage?filter=$(id)%60'
  const body = { reason: `O'Brien's "plan" $HOME \`id\` \\ ` }
  expect(argumentsOf(curlOf(url, body))).toEqual([
    ...[url, '-H', 'Authorization: Bearer sk_sandbox_1'],
    ...['-H', 'Content-Type: application/json', '-d', JSON.stringify(body)],
  ])
  expect(argumentsOf(curlOf(`${url}'`))[0]).toBe(`${url}'`)
})

test('a list repeats its parameter, and a missing value has none', () => {
  expect(queryText({ meterRef: ['a', 'b c'], top: 5, to: undefined })).toBe(
    'meterRef=a&meterRef=b+c&top=5',
  )
})
