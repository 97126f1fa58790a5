import { NumberInput, TextInput } from '@mantine/core'
import { useState, type ReactElement } from 'react'
import { formatNumberOf } from '../formats/amounts.ts'
import { Action, ActionForm, type Dialog } from '../parts/action.tsx'
import { showChanged } from '../parts/show-changed.ts'
import { useApi } from '../session/environment-api.tsx'
import { useRefusal } from '../session/user.ts'

type Props = { readonly customerRef: string }

export function GrantCredits({ customerRef }: Props): ReactElement {
  return (
    <Action label="Grant credits" refusal={useRefusal('manage')}>
      {(dialog) => <GrantForm customerRef={customerRef} {...dialog} />}
    </Action>
  )
}

function GrantForm({ customerRef, idempotencyKey, close }: Props & Dialog): ReactElement {
  const { hooks } = useApi()
  const [credits, setCredits] = useState<number | undefined>(undefined)
  const [reason, setReason] = useState('')
  const change = hooks.useMutation('post', '/v1/sdk/customers/{reference}/credits', {
    onSuccess: (granted) => {
      showChanged(`Granted ${formatNumberOf(granted.credits, 'credit')}.`)
      close()
    },
  })
  return (
    <ActionForm
      text="The credits are in the wallet at once, without a payment. They do not expire."
      submitLabel={
        credits === undefined ? 'Grant credits' : `Grant ${formatNumberOf(credits, 'credit')}`
      }
      change={change}
      close={close}
      onSubmit={() => {
        if (credits === undefined) return
        change.mutate({
          params: { path: { reference: customerRef } },
          body: { credits, ...(reason === '' ? {} : { reason }) },
          headers: { 'Idempotency-Key': idempotencyKey },
        })
      }}
    >
      <NumberInput
        label="Credits"
        required
        min={1}
        allowDecimal={false}
        allowNegative={false}
        thousandSeparator=","
        value={credits ?? ''}
        onChange={(value) => {
          setCredits(typeof value === 'number' ? value : undefined)
        }}
        data-autofocus
      />
      <TextInput
        label="Reason"
        description="Shown in the history of the wallet."
        value={reason}
        onChange={(event) => {
          setReason(event.currentTarget.value)
        }}
      />
    </ActionForm>
  )
}
