import { Textarea } from '@mantine/core'
import { useState, type ReactElement } from 'react'
import type { Answer } from '../api/answers.ts'
import { formatAmount, formatNumberOf } from '../formats/amounts.ts'
import { Action, ActionForm, type Dialog } from '../parts/action.tsx'
import { showChanged } from '../parts/show-changed.ts'
import { Time } from '../parts/time.tsx'
import { useApi } from '../session/environment-api.tsx'
import { useRefusal } from '../session/user.ts'

type Props = { readonly purchaseRef: string }
type Preview = Answer<'previewCancellation'>

export function CancelPurchase({ purchaseRef }: Props): ReactElement {
  return (
    <Action label="Cancel" title="Cancel the purchase" refusal={useRefusal('manage')}>
      {(dialog) => <CancelForm purchaseRef={purchaseRef} {...dialog} />}
    </Action>
  )
}

function CancelForm({ purchaseRef, idempotencyKey, close }: Props & Dialog): ReactElement {
  const { hooks } = useApi()
  const params = { path: { purchaseRef } }
  const { data: preview } = hooks.useSuspenseQuery(
    'post',
    '/v1/sdk/purchases/{purchaseRef}/cancel-preview',
    { params },
    { staleTime: 0, gcTime: 0 },
  )
  const [reason, setReason] = useState('')
  const change = hooks.useMutation('post', '/v1/sdk/purchases/{purchaseRef}/cancel', {
    onSuccess: () => {
      showChanged('The purchase is cancelled.')
      close()
    },
  })
  return (
    <ActionForm
      text={<WhatHappens preview={preview} />}
      submitLabel="Cancel the purchase"
      closeLabel="Keep the purchase"
      isDangerous
      change={change}
      close={close}
      onSubmit={() => {
        const body = reason === '' ? {} : { reason }
        change.mutate({ params, body, headers: { 'Idempotency-Key': idempotencyKey } })
      }}
    >
      <Textarea
        label="Reason"
        autosize
        value={reason}
        onChange={(event) => {
          setReason(event.currentTarget.value)
        }}
      />
    </ActionForm>
  )
}

/** Shows the effect of the cancellation, which the API computes before it is made. */
function WhatHappens({ preview }: { readonly preview: Preview }): ReactElement {
  const { effect, endsAt, renewsAt, releasedInvoices, invoices } = preview
  return (
    <>
      {effect === 'ends_now' && <p>Access ends now.</p>}
      {effect === 'already_cancelled' && <p>The purchase is cancelled already.</p>}
      {effect === 'scheduled' && endsAt !== undefined && (
        <p>
          Access continues until <Time instant={endsAt} />, and nothing renews after that.
        </p>
      )}
      {renewsAt !== undefined && (
        <p>
          The notice for the running period has passed: a further period begins on{' '}
          <Time instant={renewsAt} isDay /> and is charged.
        </p>
      )}
      {releasedInvoices.length > 0 && (
        <p>
          {formatNumberOf(releasedInvoices.length, 'open invoice')} for a period that will not begin
          is no longer owed for it.
        </p>
      )}
      {invoices
        .filter(({ isIssued }) => isIssued)
        .map((invoice) => (
          <p key={`${invoice.cause} ${invoice.issuedAt ?? ''}`}>
            An invoice of {formatAmount(invoice.total, invoice.currency)} for the usage until then
            follows.
          </p>
        ))}
    </>
  )
}
