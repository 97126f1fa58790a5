import { Readable } from 'node:stream'
import type { Logger } from '@tollgate/platform/observability/logger'
import type SmtpConnection from 'nodemailer/lib/smtp-connection'
import {
  HandOverStoppedError,
  judgeHandOver,
  type HandOver,
  type SmtpError,
} from './judge-hand-over.ts'

export type Envelope = { readonly from: string; readonly to: readonly string[] }

export type OutgoingMail = {
  readonly envelope: Envelope
  /** The whole message with its headers. */
  readonly message: Buffer
}

/** Hands emails to the mail server of the installation. */
export type MailServer = {
  /**
   * Hands one email over. `begin` is called when the server has accepted the sender and the recipient and waits for the text, and
   * before any byte of it is sent. If it resolves to false, nothing is sent. Rejects only if
   * the address of the server is malformed.
   */
  handOver(mail: OutgoingMail, begin: () => Promise<boolean>): Promise<HandOver>
}

/**
 * Returns the mail server at an address such as `smtps://user:password@mail.example.com`. Each email has its own connection. It ends
 * if the server does not wait for the text after `timeoutMs`, or has not answered to the text after `timeoutMs` more.
 */
export function createMailServer(smtpUrl: string, timeoutMs: number, logger: Logger): MailServer {
  return {
    handOver: async (mail, begin) => {
      const { createTransport } = await import('nodemailer')
      const { default: Connection } = await import('nodemailer/lib/smtp-connection')
      // The transport only parses the address. Its own `sendMail` does not tell when the server waits for the text.
      const { options } = createTransport(smtpUrl).transporter as unknown as TransportOptions
      const connection = new Connection({
        ...{ connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs },
        ...options,
      })
      return inTime({ connection, timeoutMs, logger }, (progress) =>
        converse(connection, options.auth, mail, async () => {
          const isAllowed = await begin()
          if (isAllowed && !progress.isOver) {
            progress.hasBegun = true
            // A slow greeting or login must not shorten the time for the answer, without which the email is unknown.
            progress.restartTimer()
          }
          return progress.hasBegun
        }),
      )
    },
  }
}

type TransportOptions = {
  readonly options: SmtpConnection.Options & {
    readonly auth?: { readonly user?: string; readonly pass?: string }
  }
}

type Progress = {
  /** Whether bytes of the text may have reached the server. */
  hasBegun: boolean
  /** Whether the time is over. Nothing is sent from then on. */
  isOver: boolean
  restartTimer(): void
}

/** Runs the conversation, ends the connection, and judges the result. */
async function inTime(
  {
    connection,
    timeoutMs,
    logger,
  }: {
    readonly connection: SmtpConnection
    readonly timeoutMs: number
    readonly logger: Logger
  },
  conversation: (progress: Progress) => Promise<string>,
): Promise<HandOver> {
  let isAccepted = false
  let timer: NodeJS.Timeout | undefined
  const progress: Progress = {
    hasBegun: false,
    isOver: false,
    restartTimer: () => void timer?.refresh(),
  }
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      progress.isOver = true
      reject(Object.assign(new Error('the mail server took too long'), { code: 'ETIMEDOUT' }))
    }, timeoutMs)
  })
  try {
    const answer = await Promise.race([conversation(progress), timeout])
    isAccepted = true
    return { kind: 'accepted', answer }
  } catch (error) {
    const handOver = judgeHandOver(error, progress.hasBegun)
    // The texts of errors and answers name the recipient.
    const { code, command, responseCode } = error as SmtpError
    const cause = { code, command, responseCode, outcome: handOver.kind }
    logger.warn(cause, 'could not hand an email to the mail server')
    return handOver
  } finally {
    progress.isOver = true
    clearTimeout(timer)
    // A closed connection has no end of the text, so a server that has received only a part of the text does not accept it.
    if (isAccepted) connection.quit()
    else connection.close()
  }
}

/** Resolves to the last answer of the server. Rejects with an error of nodemailer, or with a HandOverStoppedError. */
async function converse(
  connection: SmtpConnection,
  auth: TransportOptions['options']['auth'],
  { envelope, message }: OutgoingMail,
  begin: () => Promise<boolean>,
): Promise<string> {
  const failed = new Promise<never>((_resolve, reject) => {
    connection.on('error', reject)
    connection.on('end', () => reject(new Error('the mail server closed the connection')))
  })
  const step = (run: (done: (error?: Error | null) => void) => void): Promise<void> =>
    Promise.race([
      failed,
      new Promise<void>((resolve, reject) => run((error) => (error ? reject(error) : resolve()))),
    ])
  await step((done) => connection.connect(done))
  if (auth !== undefined) await step((done) => connection.login(auth, done))
  // The stream is read when the server has answered DATA with 354.
  const text = Readable.from(
    (async function* () {
      if (!(await begin())) throw new HandOverStoppedError()
      yield message
    })(),
    { objectMode: false },
  )
  let answer = ''
  const address = { from: envelope.from, to: [...envelope.to], size: message.length }
  await step((done) =>
    connection.send(address, text, (error, info) => {
      answer = info?.response ?? ''
      done(error)
    }),
  )
  return answer
}
