import type { WaitingEmails } from '@tollgate/domain/emails/queue-repository'
import { registerCountedGauges } from '@tollgate/platform/observability/counted-gauges'
import { Counter, type Registry } from '@tollgate/platform/observability/metrics'
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

/** Registers the gauges of the queue, which are counted for each scrape. */
export function registerDueEmails(
  registry: Registry,
  countDue: (space: Environment) => Promise<WaitingEmails>,
): void {
  registerCountedGauges(registry, countDue, {
    emails: {
      name: 'tollgate_emails_due',
      help: 'Emails that are due and not sent yet',
    },
    oldestAgeSeconds: {
      name: 'tollgate_emails_due_age_seconds',
      help: 'Seconds for which the oldest due email has waited to be sent; 0 if none is due',
    },
  })
}
