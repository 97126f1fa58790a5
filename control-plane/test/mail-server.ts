import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'

type ReceivedMail = {
  readonly from: string
  readonly recipients: readonly string[]
  /** The message with its headers, as received. */
  readonly source: string
  readonly wasEncrypted: boolean
}

export type MailServer = {
  readonly url: string
  readonly received: ReceivedMail[]
  stop(): Promise<void>
}

const user = 'tollgate'
const password = 'p@ss:word/1'

/**
 * Starts an SMTP server that accepts mail of one user over STARTTLS. It refuses recipients that begin with `refused` permanently,
 * and those that begin with `later` temporarily. Its certificate is self-signed.
 */
export async function startMailServer(port = 0): Promise<MailServer> {
  const received: ReceivedMail[] = []
  const server = new SMTPServer({
    authMethods: ['PLAIN', 'LOGIN'],
    onAuth: (auth, _session, done) => {
      const isUser = auth.username === user && auth.password === password
      if (isUser) done(null, { user })
      else done(new Error('unknown user'))
    },
    onRcptTo: ({ address }, _session, done) => {
      if (address.startsWith('refused')) done(refusal(550))
      else if (address.startsWith('later')) done(refusal(451))
      else done()
    },
    onData: (stream, { envelope, secure }, done) => {
      const { mailFrom, rcptTo } = envelope
      void text(stream).then((source) => {
        received.push({
          from: mailFrom === false ? '' : mailFrom.address,
          recipients: rcptTo.map(({ address }) => address),
          source,
          wasEncrypted: secure,
        })
        done()
      })
    },
  })
  const listening = once(server.server, 'listening')
  server.listen(port, '127.0.0.1')
  await listening
  const { port: taken } = server.server.address() as AddressInfo
  const credentials = [user, password].map(encodeURIComponent).join(':')
  return {
    url: `smtp://${credentials}@127.0.0.1:${taken}?requireTLS=true&tls.rejectUnauthorized=false`,
    received,
    stop: () => new Promise((resolve) => server.close(resolve)),
  }
}

function refusal(responseCode: number): Error {
  return Object.assign(new Error('refused here'), { responseCode })
}
