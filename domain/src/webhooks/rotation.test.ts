import fc from 'fast-check'
import { expect, test } from 'vitest'
import { signingOrder, type WebhookSecret } from './endpoint.ts'
import { decideRotation, liveSecretsMax } from './rotation.ts'

type Secret = Omit<WebhookSecret, 'sealed'>

const hourMs = 3_600_000
const at = (hours: number) => new Date(Date.UTC(2026, 2, 1) + hours * hourMs)
const secret = (reference: string, fields: Partial<Secret> = {}): Secret => ({
  reference,
  signsFirst: false,
  createdAt: at(0),
  expiresAt: null,
  ...fields,
})

test('the previous secret keeps signing, and first, until the overlap ends', () => {
  expect(decideRotation([secret('a', { signsFirst: true })], 24 * hourMs, at(1))).toEqual({
    kind: 'rotated',
    ends: [{ reference: 'a', expiresAt: at(25) }],
    first: 'a',
  })
})

test('other secrets end at once without an overlap', () => {
  const two = [secret('a', { signsFirst: true, expiresAt: at(9) }), secret('b')]
  expect(decideRotation(two, 0, at(1))).toEqual({
    kind: 'rotated',
    ends: [
      { reference: 'a', expiresAt: at(1) },
      { reference: 'b', expiresAt: at(1) },
    ],
    first: null,
  })
})

test('a rotation never extends the life of a secret', () => {
  const [a, b] = [secret('a', { signsFirst: true, expiresAt: at(2) }), secret('b')]
  expect(decideRotation([a, b], 24 * hourMs, at(1))).toMatchObject({
    ends: [
      { reference: 'a', expiresAt: at(2) },
      { reference: 'b', expiresAt: at(25) },
    ],
  })
})

test('a fourth secret is refused until another one ends', () => {
  const three = [
    secret('a', { signsFirst: true, expiresAt: at(5) }),
    secret('b', { expiresAt: at(3) }),
    secret('c'),
  ]
  expect(decideRotation(three, hourMs, at(1))).toEqual({ kind: 'too-many', freeAt: at(2) })
  expect(decideRotation(three, 24 * hourMs, at(1))).toEqual({ kind: 'too-many', freeAt: at(3) })
  expect(decideRotation(three, 24 * hourMs, at(3)).kind).toBe('rotated')
  expect(decideRotation(three, 0, at(1)).kind).toBe('rotated')
})

test('after any rotations a secret signs, and the first one changes only if it must', () => {
  const step = fc.record({
    afterHours: fc.integer({ min: 1, max: 200 }),
    overlapHours: fc.constantFrom(0, 1, 24, 168),
    isPromoted: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      let secrets: Secret[] = [secret('s0', { signsFirst: true })]
      let hours = 0
      for (const [index, { afterHours, overlapHours, isPromoted }] of steps.entries()) {
        hours += afterHours
        const now = at(hours)
        const [before] = signingOrder(secrets, now)
        expect(before).toBeDefined()
        const rotation = decideRotation(secrets, overlapHours * hourMs, now)
        if (rotation.kind === 'too-many') {
          expect(signingOrder(secrets, now)).toHaveLength(liveSecretsMax)
          expect(rotation.freeAt.getTime()).toBeGreaterThan(now.getTime())
          continue
        }
        const newest = `s${index + 1}`
        const ends = new Map(rotation.ends.map((end) => [end.reference, end.expiresAt]))
        secrets = [
          ...secrets.map((each) => ({
            ...each,
            signsFirst: each.reference === rotation.first,
            expiresAt: ends.get(each.reference) ?? each.expiresAt,
          })),
          secret(newest, { createdAt: now, signsFirst: rotation.first === null }),
        ]
        const live = signingOrder(secrets, now)
        expect(live.length).toBeLessThanOrEqual(liveSecretsMax)
        expect(live[0]!.reference).toBe(overlapHours === 0 ? newest : before!.reference)
        expect(live.map(({ reference }) => reference)).toContain(newest)
        if (isPromoted) {
          secrets = secrets.map((each) => ({ ...each, signsFirst: each.reference === newest }))
        }
      }
    }),
    { interruptAfterTimeLimit: 20_000 },
  )
})
