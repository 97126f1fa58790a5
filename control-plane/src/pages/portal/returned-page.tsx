import type { ReactElement } from 'react'
import type { PresentPayment } from '@tollgate/domain/charging/pay-present'
import { BankWaitedFor } from '../bank-waited-for.tsx'
import type { Frame } from '../frame.ts'
import { Page } from '../page.tsx'

type ReturnedProps = { readonly frame: Frame; readonly payment: PresentPayment }

/** What became of a payment, for somebody of whom no more is known than that they were sent to the bank for it. */
export function ReturnedPage({ frame, payment }: ReturnedProps): ReactElement {
  const { title, text } = wordsOf(payment)
  const isPaid = payment.kind === 'paid'
  return (
    <Page frame={frame} title={title} narrow scripts={[frame.files.script]}>
      <div className="card centred">
        {isPaid && (
          <span className="tick" aria-hidden="true">
            ✓
          </span>
        )}
        <h1>{title}</h1>
        {payment.kind === 'processing' ? <BankWaitedFor /> : <p>{text}</p>}
        <p className="quiet">{accountWords(frame, isPaid)}</p>
      </div>
    </Page>
  )
}

function wordsOf({ kind }: PresentPayment): { readonly title: string; readonly text: string } {
  switch (kind) {
    case 'paid':
      return { title: 'Your payment went through', text: 'Thank you. The invoice is paid.' }
    case 'processing':
      return { title: 'Your payment is under way', text: '' }
    case 'nothing':
      return { title: 'There is nothing to pay', text: 'The invoice was settled in another way.' }
    case 'asked':
    case 'unpaid':
      return { title: 'Your payment did not go through', text: 'Nothing was charged.' }
  }
}

/** Only the provider knows its customers well enough to let them in. */
function accountWords({ merchant }: Frame, isPaid: boolean): string {
  const where = merchant === undefined ? 'where you came from' : merchant.name
  return isPaid
    ? `You are signed out here. To see your account, open it again from ${where}.`
    : `You are signed out here. To try again, or with another card, open your account again from ${where}.`
}
