import type { ReactElement } from 'react'
import type { OnSessionPayment } from '@tollgate/domain/charging/pay-on-session'
import { BankPending } from '../bank-pending.tsx'
import type { Frame } from '../frame.ts'
import { Page } from '../page.tsx'
import type { PlainKey } from '../texts/texts.ts'

type ReturnedProps = { readonly frame: Frame; readonly payment: OnSessionPayment }

/** The outcome of a payment, for a browser about which only one fact is known: the bank has redirected it after this payment. */
export function ReturnedPage({ frame, payment }: ReturnedProps): ReactElement {
  const { t } = frame
  const [titleKey, text] = textsOf(payment)
  const title = t(titleKey)
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
        {payment.kind === 'processing' ? <BankPending t={t} /> : <p>{t(text)}</p>}
        <p className="quiet">{accountText(frame, isPaid)}</p>
      </div>
    </Page>
  )
}

function textsOf({ kind }: OnSessionPayment): readonly [title: PlainKey, text: PlainKey] {
  switch (kind) {
    case 'paid':
      return ['portal:returnedPaid', 'portal:thanksPaid']
    case 'processing':
      return ['portal:returnedProcessing', 'shared:bankWaitedFor']
    case 'nothing':
      return ['portal:returnedNothing', 'portal:returnedNothingText']
    case 'authenticate':
    case 'unpaid':
      return ['portal:returnedFailed', 'portal:nothingCharged']
  }
}

/** Returns how the customer gets back to the account. Only the provider can authenticate its customers and open the portal. */
function accountText({ merchant, t }: Frame, isPaid: boolean): string {
  const name = merchant?.name ?? t('portal:yourProvider')
  return isPaid ? t('portal:openAccountAgain', { name }) : t('portal:openAccountToRetry', { name })
}
