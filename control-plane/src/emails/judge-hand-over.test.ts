import { describe, expect, test } from 'vitest'
import { decideOutcome } from './decide-outcome.ts'
import { HandOverStoppedError, judgeHandOver } from './judge-hand-over.ts'

/** An error as nodemailer reports it. */
function smtpError(code: string, command: string, response?: string): Error {
  const responseCode = response === undefined ? undefined : Number(response.slice(0, 3))
  return Object.assign(new Error(code), { code, command, response, responseCode })
}

describe('before the text is handed over', () => {
  test.each([
    ['550 5.1.1 No such user', true],
    ['553 5.1.3 Bad address', true],
    ['550-5.1.10 RecipientNotFound', true],
    ['550 5.2.1 The mailbox is disabled', true],
    // Such a refusal has no enhanced code. It may be caused by the server's configuration and then concerns every address.
    ['550 No such user', false],
    ['550 relay not permitted', false],
    ['530 authentication required', false],
    ['550 5.1.0 Address rejected', false],
    ['552 5.2.2 The mailbox is full', false],
    ['550 5.7.1 Relaying denied', false],
    ['550 5.1.8 The sender does not exist', false],
    ['550 5.4.1 No route', false],
  ])('%s to the recipient is a bounce: %s', (response, isBounce) => {
    const judged = judgeHandOver(smtpError('EENVELOPE', 'RCPT TO', response), false)
    if (isBounce) {
      expect(judged).toEqual({ kind: 'refused', what: 'address', isBounce, answer: response })
    } else {
      expect(judged).toEqual({ kind: 'deferred', reason: 'deferred', answer: response })
    }
  })

  test.each([
    [smtpError('ESOCKET', 'CONN'), 'unreachable'],
    [smtpError('ECONNECTION', 'CONN'), 'unreachable'],
    [smtpError('ETIMEDOUT', 'CONN'), 'timeout'],
    [smtpError('ETLS', 'STARTTLS'), 'tls'],
    [smtpError('EAUTH', 'AUTH PLAIN', '535 5.7.8 Bad credentials'), 'login'],
    [smtpError('EENVELOPE', 'MAIL FROM', '550 5.1.8 Sender refused'), 'deferred'],
    [smtpError('EENVELOPE', 'RCPT TO', '451 4.7.1 Greylisted'), 'deferred'],
    [smtpError('EENVELOPE', 'DATA', '554 No'), 'deferred'],
    [new Error('connect to mail.internal'), 'error'],
  ])('%s defers the email as %s, without naming the server', (error, reason) => {
    const judged = judgeHandOver(error, false)
    expect(judged).toMatchObject({ kind: 'deferred', reason })
    if (reason !== 'deferred') expect(judged).toMatchObject({ answer: null })
  })

  test('a recipient that is no address, and a message that is too large, fail the email', () => {
    expect(judgeHandOver(smtpError('EENVELOPE', 'API'), false)).toMatchObject({
      kind: 'refused',
      what: 'address',
      isBounce: false,
    })
    expect(judgeHandOver(smtpError('EMESSAGE', 'MAIL FROM'), false)).toMatchObject({
      kind: 'refused',
      what: 'message',
    })
  })

  test('a lost claim decides nothing', () => {
    const judged = judgeHandOver(new HandOverStoppedError(), false)
    expect(judged).toEqual({ kind: 'stopped' })
    expect(decideOutcome(judged, 0, [1], new Date())).toBeUndefined()
  })
})

describe('after the text was handed over', () => {
  test.each([
    [smtpError('EMESSAGE', 'DATA', '554 5.6.0 Looks like spam'), 'refused'],
    [smtpError('EMESSAGE', 'DATA', '451 4.3.0 Try again'), 'deferred'],
    [smtpError('ECONNECTION', 'CONN'), 'unknown'],
    [smtpError('ETIMEDOUT', 'DATA'), 'unknown'],
    // Not an answer to the text: the server says that it closes the connection.
    [smtpError('ECONNECTION', 'CONN', '421 4.3.2 Shutting down'), 'unknown'],
    [smtpError('EMESSAGE', 'DATA'), 'unknown'],
    [new Error('the mail server closed the connection'), 'unknown'],
  ])('%s is %s', (error, kind) => {
    expect(judgeHandOver(error, true).kind).toBe(kind)
  })
})

describe('the outcome of an attempt', () => {
  const now = new Date('2026-03-01T00:00:00Z')
  const deferred = { kind: 'deferred', reason: 'deferred', answer: '451 Later' } as const

  test.each([
    [0, '2026-03-01T00:01:00Z'],
    [1, '2026-03-01T00:05:00Z'],
  ])('after %i earlier attempts is another one at %s', (attempts, dueAt) => {
    expect(decideOutcome(deferred, attempts, [60, 300], now)).toEqual({
      kind: 'pending',
      reason: 'deferred',
      answer: '451 Later',
      dueAt: new Date(dueAt),
    })
  })

  test('after the last delay is failed', () => {
    expect(decideOutcome(deferred, 2, [60, 300], now)).toEqual({
      kind: 'failed',
      reason: 'attempts',
      answer: '451 Later',
    })
  })

  test.each([
    [{ kind: 'accepted', answer: '250 OK' }, { kind: 'sent' }],
    [{ kind: 'unknown', reason: 'cut-off' }, { kind: 'unknown' }],
    [
      { kind: 'refused', what: 'message', isBounce: false, answer: null },
      { kind: 'failed', reason: 'message-refused' },
    ],
    [
      { kind: 'refused', what: 'address', isBounce: true, answer: null },
      { kind: 'failed', reason: 'address-refused' },
    ],
    [
      { kind: 'refused', what: 'address', isBounce: false, answer: null },
      { kind: 'failed', reason: 'bad-address' },
    ],
  ] as const)('%j is final: %j', (handOver, outcome) => {
    expect(decideOutcome(handOver, 0, [60], now)).toMatchObject(outcome)
  })
})
