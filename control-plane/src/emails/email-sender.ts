import { addToInbox, trimInbox } from '@tollgate/domain/customer-auth/inbox'
import { storedAnswer, type ClaimedEmail, type EmailOutcome } from '@tollgate/domain/emails/email'
import {
  beginSending,
  claimEmails,
  deleteOldEmails,
  finishEmail,
  lockUnerased,
  markUnknown,
  releaseEmail,
} from '@tollgate/domain/emails/queue-repository'
import { suppressAddress } from '@tollgate/domain/emails/suppressions-repository'
import { forEachConcurrently } from '@tollgate/domain/postgres/for-each-concurrently'
import { jobOperation } from '@tollgate/domain/unit-of-work/job-operation'
import type { Database } from '@tollgate/platform/database/database'
import type { Service } from '@tollgate/platform/service/service'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { commit } from '../access/commit.ts'
import { repeating, reportFailure } from '../jobs/repeating.ts'
import { decideOutcome } from './decide-outcome.ts'
import type { MailServer } from './hand-over.ts'
import type { HandOver } from './judge-hand-over.ts'
import { messageOf, type ComposedEmail } from './message.ts'
import type { EmailMetrics } from './email-metrics.ts'
import { prepareEmail, type PrepareParts } from './prepare-email.ts'

export type EmailSenderParts = PrepareParts & {
  /** Undefined if there is no mail server. */
  readonly mailServer: MailServer | undefined
  readonly metrics: EmailMetrics
  readonly limits: PrepareParts['limits'] & {
    readonly pollMs: number
    readonly connectionsMax: number
    readonly timeoutMs: number
    readonly retryDelaysSeconds: readonly number[]
    readonly keptMs: number
    readonly inboxMessagesMax: number
  }
}

/** Emails of one claim for each connection. */
const emailsPerConnection = 5

const rowsPerDeletion = 1_000

const cleanUpIntervalMs = 60_000

/**
 * Sends the due emails of each environment. Several processes may run it at the same time. Emails that were committed are found by
 * the next round, whatever happened to the process that committed them.
 */
export function createEmailSender(parts: EmailSenderParts): Service {
  const loops = environments.map((environment) => new SendingLoop(parts, environment).service)
  return {
    start: async () => void (await Promise.all(loops.map((loop) => loop.start()))),
    stop: async () => void (await Promise.all(loops.map((loop) => loop.stop()))),
  }
}

class SendingLoop {
  readonly service: Service
  readonly #parts: EmailSenderParts
  readonly #environment: Environment
  readonly #sql: ReturnType<Database['in']>
  #cleanedUpMs = -Infinity
  #isStopping = false

  constructor(parts: EmailSenderParts, environment: Environment) {
    this.#parts = parts
    this.#environment = environment
    this.#sql = parts.publisher.database.in(environment)
    const loop = repeating(() => this.#round(), parts.limits.pollMs)
    this.service = {
      start: () => loop.start(),
      stop: () => {
        this.#isStopping = true
        return loop.stop()
      },
    }
  }

  async #round(): Promise<void> {
    const environment = this.#environment
    const report = (err: unknown): void =>
      this.#parts.logger.error(
        { err, environment },
        'could not send emails; the next round retries',
      )
    await reportFailure(() => this.#sendDue(), report)
    await reportFailure(() => this.#cleanUp(), report)
  }

  async #sendDue(): Promise<void> {
    const { publisher, limits, metrics, logger } = this.#parts
    const environment = this.#environment
    const interrupted = await markUnknown(this.#sql, publisher.now())
    if (interrupted > 0) {
      metrics.outcomes.inc({ space: environment, outcome: 'unknown' }, interrupted)
      logger.warn({ environment, interrupted }, 'emails were interrupted while they were sent')
    }
    const emailsMax = limits.connectionsMax * emailsPerConnection
    for (let isFull = true; isFull && !this.#isStopping;) {
      const now = publisher.now()
      const emails = await claimEmails(this.#sql, {
        now,
        leasedUntil: this.#leaseFrom(now),
        emailsMax,
      })
      isFull = emails.length === emailsMax
      await forEachConcurrently(emails, limits.connectionsMax, (email) => this.#attempt(email))
      if (this.#parts.mailServer === undefined && emails.length > 0) {
        await trimInbox(this.#sql, limits.inboxMessagesMax)
      }
    }
  }

  /** The lease of a claimed email also covers its wait for a connection. */
  #leaseFrom(now: Date): Date {
    const { timeoutMs } = this.#parts.limits
    return new Date(now.getTime() + 2 * timeoutMs * emailsPerConnection)
  }

  /** Never rejects, so that one email does not keep others from being sent. The lease of an unfinished claim ends. */
  async #attempt(claimed: ClaimedEmail): Promise<void> {
    const { logger } = this.#parts
    try {
      if (this.#isStopping) await releaseEmail(this.#sql, claimed)
      else await this.#send(claimed)
    } catch (error) {
      const { reference: email } = claimed
      logger.error({ err: error, email }, 'could not finish an attempt to send an email')
    }
  }

  async #send(claimed: ClaimedEmail): Promise<void> {
    const caller = { providerId: claimed.providerId, environment: this.#environment }
    let prepared
    try {
      prepared = await prepareEmail(this.#parts, claimed, caller)
    } catch (error) {
      const { reference: email } = claimed
      this.#parts.logger.error({ err: error, email }, 'could not prepare an email')
      return this.#finish(claimed, { kind: 'deferred', reason: 'unprepared', answer: null }, null)
    }
    if (prepared.kind === 'skip') {
      return this.#record(claimed, { kind: 'skipped', reason: prepared.reason }, null)
    }
    const { email } = prepared
    const { mailServer } = this.#parts
    if (mailServer === undefined) return this.#store(claimed, email)
    const mail = await messageOf(email)
    if (mail === undefined) {
      const refused = { kind: 'refused', what: 'address', isBounce: false, answer: null } as const
      return this.#finish(claimed, refused, email)
    }
    const { publisher, limits } = this.#parts
    const handOver = await mailServer.handOver(mail, () => {
      const leasedUntil = new Date(publisher.now().getTime() + 2 * limits.timeoutMs)
      return beginSending(this.#sql, claimed, email.recipient, leasedUntil)
    })
    await this.#finish(claimed, handOver, email)
  }

  /**
   * Suppresses an address that bounced, and records the outcome. After a crash in between, the email is pending, and the next attempt
   * skips it. If the outcome cannot be recorded, the lease ends: the email is then sent again if it was not handed over, and is
   * unknown if it was.
   */
  async #finish(
    claimed: ClaimedEmail,
    handOver: HandOver,
    email: ComposedEmail | null,
  ): Promise<void> {
    const { limits, publisher } = this.#parts
    if (handOver.kind === 'refused' && handOver.isBounce && email !== null) {
      await this.#suppress(claimed, email.recipient, handOver.answer)
    }
    const { retryDelaysSeconds } = limits
    const outcome = decideOutcome(handOver, claimed.attempts, retryDelaysSeconds, publisher.now())
    if (outcome !== undefined) await this.#record(claimed, outcome, email?.recipient ?? null)
  }

  /** Suppresses the address, unless the customer was deleted meanwhile, with its address. */
  async #suppress(claimed: ClaimedEmail, recipient: string, answer: string | null): Promise<void> {
    const caller = { providerId: claimed.providerId, environment: this.#environment }
    const operation = jobOperation('emails', caller, this.#parts.publisher.now())
    const bounced = { email: recipient, reason: 'bounced', detail: storedAnswer(answer) } as const
    await commit(this.#parts, operation, async (work) => {
      if (await lockUnerased(work.sql, claimed)) await suppressAddress(work, bounced)
    })
  }

  /** Stores the email in the inbox and records that, in one transaction, so it is there exactly once. */
  async #store(claimed: ClaimedEmail, email: ComposedEmail): Promise<void> {
    const { publisher } = this.#parts
    const { recipient, subject, text: body, html, attachment } = email
    const now = publisher.now()
    const isStored = await this.#sql.begin(async (sql) => {
      if (!(await beginSending(sql, claimed, recipient, now))) return false
      await finishEmail(sql, claimed, { kind: 'sent', answer: null }, recipient, now)
      const message = { recipient, subject, body, html, attachment, createdAt: now }
      await addToInbox(sql, claimed.providerId, message)
      return true
    })
    if (isStored) this.#count('sent')
  }

  async #record(
    claimed: ClaimedEmail,
    outcome: EmailOutcome,
    recipient: string | null,
  ): Promise<void> {
    const now = this.#parts.publisher.now()
    if (await finishEmail(this.#sql, claimed, outcome, recipient, now)) this.#count(outcome.kind)
  }

  #count(outcome: EmailOutcome['kind']): void {
    this.#parts.metrics.outcomes.inc({ space: this.#environment, outcome })
  }

  async #cleanUp(): Promise<void> {
    const { publisher, limits } = this.#parts
    const startedMs = performance.now()
    if (startedMs < this.#cleanedUpMs + cleanUpIntervalMs) return
    const finishedBefore = new Date(publisher.now().getTime() - limits.keptMs)
    while ((await deleteOldEmails(this.#sql, finishedBefore, rowsPerDeletion)) === rowsPerDeletion);
    await trimInbox(this.#sql, limits.inboxMessagesMax)
    this.#cleanedUpMs = startedMs
  }
}
