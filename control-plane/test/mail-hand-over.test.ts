import { createLogger } from '@tollgate/platform/observability/logger'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMailServer, type MailServer, type OutgoingMail } from '../src/emails/hand-over.ts'
import { startScriptedMailServer, type ScriptedMailServer } from './scripted-mail-server.ts'

/* One conversation with a mail server. */

const timeoutMs = 2_000

let scripted: ScriptedMailServer
let mailServer: MailServer
const logged: unknown[] = []

beforeAll(async () => {
  // Two answers take longer than the time for one of them.
  scripted = await startScriptedMailServer({ answerMs: 0.6 * timeoutMs })
  const logger = createLogger('test', 'silent')
  logger.warn = (fields: unknown) => void logged.push(fields)
  mailServer = createMailServer(scripted.url, timeoutMs, logger)
})
afterAll(() => scripted.stop())

function mailTo(recipient: string): OutgoingMail {
  const envelope = { from: 'billing@tollgate.example', to: [recipient] }
  return { envelope, message: Buffer.from('Subject: x\r\n\r\nx\r\n') }
}

test('a slow server has the whole time to answer to the text', async () => {
  const mail = mailTo('slow@example.com')
  const handOver = await mailServer.handOver(mail, () => Promise.resolve(true))
  expect(handOver).toMatchObject({ kind: 'accepted' })
})

test('a refusal is logged without the address', async () => {
  const mail = mailTo('refused@example.com')
  const handOver = await mailServer.handOver(mail, () => Promise.resolve(true))
  expect(handOver).toMatchObject({ kind: 'refused' })
  expect(logged).toEqual([
    { code: 'EENVELOPE', command: 'RCPT TO', responseCode: 550, outcome: 'refused' },
  ])
})
