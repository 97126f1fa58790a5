import {
  emailPreviewSchema,
  emailSchema,
  emailSettingsSchema,
  emailSettingsUpdateSchema,
  emailsResponseSchema,
  emailSuppressionCreateSchema,
  emailSuppressionSchema,
  emailSuppressionsPageSchema,
  type EmailBody,
  type EmailSettingsBody,
  type EmailSuppressionBody,
} from '../emails.ts'
import { deletedResponseSchema } from '../plans.ts'
import { examplesOf } from './example.ts'
import { customer, instants, refs } from './story.ts'

const settings: EmailSettingsBody = {
  kinds: ['receipt', 'payment_failed'],
  senderName: 'Acme Billing',
  replyTo: 'help@acme.example',
  locale: 'de',
  sandboxRecipients: ['dev@acme.example'],
  transport: 'smtp',
}

const sent: EmailBody = {
  id: refs.email,
  kind: 'receipt',
  eventId: refs.event,
  customerRef: refs.customer,
  state: 'sent',
  recipient: customer.email,
  answer: '250 2.0.0 OK: queued',
  attempts: 1,
  createdAt: instants.now,
  finishedAt: '2026-03-14T08:15:31.402Z',
}

const unknown: EmailBody = {
  id: refs.email,
  kind: 'payment_failed',
  eventId: refs.event,
  customerRef: refs.customer,
  state: 'unknown',
  reason: 'interrupted',
  recipient: customer.email,
  attempts: 0,
  createdAt: instants.now,
  finishedAt: '2026-03-14T08:16:31.402Z',
}

const queued: EmailBody = {
  id: refs.email,
  kind: 'payment_failed',
  eventId: refs.event,
  customerRef: refs.customer,
  state: 'pending',
  reason: 'requested',
  recipient: customer.email,
  attempts: 0,
  dueAt: instants.now,
  createdAt: instants.now,
}

const suppression: EmailSuppressionBody = {
  id: refs.emailSuppression,
  email: customer.email,
  reason: 'bounced',
  detail: '550 5.1.1 No such mailbox',
  createdAt: instants.now,
}

export const emailExamples = {
  getEmailSettings: {
    answer: examplesOf(emailSettingsSchema, { 'Receipts and failed payments': settings }),
  },
  updateEmailSettings: {
    body: examplesOf(emailSettingsUpdateSchema, {
      'Receipts and failed payments': { kinds: ['receipt', 'payment_failed'] },
      'The sender': { senderName: 'Acme Billing', replyTo: 'help@acme.example', locale: 'de' },
      'No emails': { kinds: [] },
    }),
    answer: examplesOf(emailSettingsSchema, { 'Receipts and failed payments': settings }),
  },
  previewEmail: {
    answer: examplesOf(emailPreviewSchema, {
      'A receipt': {
        kind: 'receipt',
        locale: 'en',
        from: 'Acme',
        subject: 'Your receipt from Acme: $49.00',
        text: 'Thank you for your payment\n\nHello Ada Lovelace,\n\n…',
        html: '<!doctype html><html lang="en">…</html>',
      },
    }),
  },
  listEmails: {
    answer: examplesOf(emailsResponseSchema, { 'One of them': { emails: [sent], hasMore: false } }),
  },
  getEmail: { answer: examplesOf(emailSchema, { Sent: sent, Unknown: unknown }) },
  resendEmail: { answer: examplesOf(emailSchema, { Queued: queued }) },
  listEmailSuppressions: {
    answer: examplesOf(emailSuppressionsPageSchema, {
      'One page': { suppressions: [suppression], total: 1, limit: 50, offset: 0 },
    }),
  },
  suppressEmail: {
    body: examplesOf(emailSuppressionCreateSchema, {
      'By hand': { email: customer.email },
      'A complaint': { email: customer.email, reason: 'complained', detail: 'Feedback loop' },
    }),
    answer: examplesOf(emailSuppressionSchema, { Bounced: suppression }),
  },
  removeEmailSuppression: {
    answer: examplesOf(deletedResponseSchema, { Removed: { success: true } }),
  },
}
