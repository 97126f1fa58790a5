import type { OutgoingMail } from './hand-over.ts'

/** An email with all its parts, as the mail server or the inbox gets it. */
export type ComposedEmail = {
  /** Reference of the email, which makes the Message-ID the same for every attempt. */
  readonly reference: string
  readonly fromName: string
  readonly fromAddress: string
  /** Null: answers go to the sender. */
  readonly replyTo: string | null
  readonly recipient: string
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly attachment: { readonly fileName: string; readonly pdf: Buffer } | null
  readonly unsubscribeUrl: string | null
  readonly createdAt: Date
}

/**
 * Returns the message and its envelope, or undefined if the recipient is not one address. Names and addresses are passed as objects,
 * because nodemailer would parse further addresses out of texts that people typed. It encodes line breaks in names and subjects.
 */
export async function messageOf(email: ComposedEmail): Promise<OutgoingMail | undefined> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer')
  const { recipient, fromName, fromAddress, replyTo, attachment, unsubscribeUrl } = email
  if (!isAddress(recipient)) return undefined
  const composed = new MailComposer({
    from: { name: fromName, address: fromAddress },
    to: { name: '', address: recipient },
    ...(replyTo !== null && isAddress(replyTo) && { replyTo: { name: '', address: replyTo } }),
    subject: email.subject,
    text: email.text,
    html: email.html,
    date: email.createdAt,
    messageId: `<${email.reference}@${fromAddress.slice(fromAddress.lastIndexOf('@') + 1)}>`,
    // Answering machines do not answer, and some programs group these emails.
    headers: {
      'Auto-Submitted': 'auto-generated',
      ...(unsubscribeUrl !== null && {
        'List-Unsubscribe': `<${unsubscribeUrl}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    },
    ...(attachment !== null && {
      attachments: [
        {
          filename: attachment.fileName,
          content: attachment.pdf,
          contentType: 'application/pdf',
        },
      ],
    }),
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile()
  const { from, to } = composed.getEnvelope()
  const [only, ...others] = to
  if (typeof from !== 'string' || only === undefined || others.length > 0) return undefined
  return { envelope: { from, to: [only] }, message: await composed.build() }
}

/** Returns whether the text is one address that a mail server can be given. The schemas of the API are looser. */
function isAddress(text: string): boolean {
  return /^[^\s@<>()[\],;:\\"\p{C}]+@[^\s@<>()[\],;:\\"\p{C}]+\.[^\s@<>()[\],;:\\"\p{C}.]+$/u.test(
    text,
  )
}

/** Returns the address in a sender such as `Acme <billing@acme.example>`, in lower case. Empty if there is none. */
export function addressOf(sender: string): string {
  const address = (/<([^<>]*)>\s*$/.exec(sender)?.[1] ?? sender).trim()
  return /^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(address) ? address.toLowerCase() : ''
}
