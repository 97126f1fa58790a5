import { expect, test } from 'vitest'
import { signWebhook } from './sign-webhook.ts'

const body = Buffer.from('{"id":"evt_1","name":"Zoë 🎉"}')

test('signs the second and the bytes, keyed by the whole text of the secret', () => {
  // Calculated with Python's hmac for the same input.
  const digest = '7ae076665ea09607801826dcc41a6ecb2f79f40285c0586e5ec306e050f4cb30'
  expect(signWebhook(['whsec_old'], body, 1_760_000_000)).toBe(`t=1760000000,v1=${digest}`)
})

test('returns one signature per secret, in their order and without spaces', () => {
  const sign = (...secrets: string[]) => signWebhook(secrets, body, 7)
  const ofOld = sign('whsec_old').split(',')[1]
  const ofNew = sign('whsec_new').split(',')[1]
  expect(sign('whsec_old', 'whsec_new')).toBe(`t=7,${ofOld},${ofNew}`)
  expect(sign('whsec_new', 'whsec_old')).toBe(`t=7,${ofNew},${ofOld}`)
  expect(ofOld).toMatch(/^v1=[0-9a-f]{64}$/)
  expect(ofOld).not.toBe(ofNew)
})
