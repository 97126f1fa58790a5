import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer, type SMTPServerSession } from 'smtp-server'

/** A message whose end the server has received. */
type ReceivedMessage = {
  readonly recipient: string
  readonly source: string
  readonly messageId: string
}

export type ScriptedMailServer = {
  readonly url: string
  readonly port: number
  /** In the order of arrival, whether the server accepted them or not. */
  readonly received: ReceivedMessage[]
  stop(): Promise<void>
}

type Connection = { readonly session: SMTPServerSession; readonly _socket: Socket }

const refusalMs = 600

/**
 * Starts an SMTP server without TLS. The local part of the recipient's address decides how it behaves:
 * - `refused`, `relay` and `later` are refused as recipients, permanently, by policy and temporarily.
 * - `spam` is refused after the text, and `busy` is refused once after the text, temporarily.
 * - `leaver` is refused permanently as a recipient, after 0.6 s.
 * - `slow` is answered after `answerMs`, as a recipient and after the text.
 * - `cut` loses the connection after the text, and `hang` gets no answer.
 */
export async function startScriptedMailServer({
  answerMs = 0,
  port = 0,
}: { readonly answerMs?: number; readonly port?: number } = {}): Promise<ScriptedMailServer> {
  const received: ReceivedMessage[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    // A server that stops does not wait for clients.
    closeTimeout: 100,
    onRcptTo: ({ address }, _session, done) => {
      const name = address.split('@')[0]!
      const waitsMs = name === 'slow' ? answerMs : name === 'leaver' ? refusalMs : 0
      setTimeout(() => done(refusalOf(name)), waitsMs)
    },
    onData: (stream, session, done) => {
      const recipient = session.envelope.rcptTo[0]?.address ?? ''
      const onReceived = (source: string): void => {
        const messageId = /^Message-ID: <([^>]*)>/im.exec(source)?.[1] ?? ''
        const isFirst = !received.some((each) => each.messageId === messageId)
        received.push({ recipient, source, messageId })
        switch (recipient.split('@')[0]) {
          case 'spam':
            return done(answerOf(554, '5.6.0 Looks like spam'))
          case 'busy':
            return done(isFirst ? answerOf(451, '4.3.0 Try again') : null)
          case 'hang':
            return
          case 'cut':
            socketOf(server, session)?.destroy()
            return
          default:
            setTimeout(() => done(), answerMs)
        }
      }
      // A text whose end did not arrive was not received: its client was killed.
      text(stream).then(onReceived, () => undefined)
    },
  })
  // Clients are killed in the middle of a connection.
  server.on('error', () => undefined)
  const listening = once(server.server, 'listening')
  server.listen(port, '127.0.0.1')
  await listening
  const { port: taken } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${taken}`,
    port: taken,
    received,
    stop: () => new Promise((resolve) => server.close(resolve)),
  }
}

function refusalOf(name: string): Error | null {
  switch (name) {
    case 'refused':
    case 'leaver':
      return answerOf(550, '5.1.1 No such mailbox')
    case 'relay':
      return answerOf(550, '5.7.1 Relaying denied')
    case 'later':
      return answerOf(451, '4.7.1 Greylisted')
    default:
      return null
  }
}

function answerOf(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode })
}

function socketOf(server: SMTPServer, session: SMTPServerSession): Socket | undefined {
  const connections = (server as unknown as { readonly connections: Set<Connection> }).connections
  return [...connections].find((connection) => connection.session === session)?._socket
}
