import type { WaitingEmails } from '@tollgate/domain/emails/queue-repository'
import { Counter, Gauge, type Registry } from '@tollgate/platform/observability/metrics'
import { environments, type Environment } from '@tollgate/schemas/environment'

export type EmailMetrics = ReturnType<typeof createEmailMetrics>

/** Creates the metrics of emails. The label `space` is the environment. */
export function createEmailMetrics(registry: Registry) {
  const outcomes = new Counter({
    name: 'tollgate_emails_total',
    help: 'Attempts to send an email by outcome: sent, pending (another attempt follows), failed, unknown or skipped',
    labelNames: ['space', 'outcome'] as const,
    registers: [registry],
  })
  for (const space of environments) {
    for (const outcome of ['pending', 'failed', 'unknown']) outcomes.inc({ space, outcome }, 0)
  }
  return { outcomes }
}

/** Registers the gauges of the queue, which is counted for each scrape. They are omitted while PostgreSQL does not answer. */
export function registerDueEmails(
  registry: Registry,
  countDue: (space: Environment) => Promise<WaitingEmails>,
): void {
  const emails = new Gauge({
    name: 'tollgate_emails_due',
    help: 'Emails that are due and not sent yet',
    labelNames: ['space'] as const,
    registers: [registry],
  })
  new Gauge({
    name: 'tollgate_emails_due_age_seconds',
    help: 'Seconds for which the oldest due email has waited to be sent; 0 if none is due',
    labelNames: ['space'] as const,
    registers: [registry],
    async collect() {
      for (const space of environments) {
        const due = await countOrNothing(() => countDue(space))
        if (due === undefined) {
          this.remove({ space })
          emails.remove({ space })
        } else {
          this.set({ space }, due.oldestAgeSeconds)
          emails.set({ space }, due.emails)
        }
      }
    },
  })
}

async function countOrNothing(
  count: () => Promise<WaitingEmails>,
): Promise<WaitingEmails | undefined> {
  try {
    return await count()
  } catch {
    return undefined
  }
}
