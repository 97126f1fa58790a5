import { NativeSelect, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import type { operations } from '../api/openapi.d.ts'
import { Action, ActionForm, type Dialog } from '../parts/action.tsx'
import { showChanged } from '../parts/show-changed.ts'
import { useApi } from '../session/environment-api.tsx'
import { useRefusal } from '../session/user.ts'

type Props = { readonly productRef: string }
type Body = operations['createPlan']['requestBody']['content']['application/json']

type Kind = { readonly label: string; readonly body: Body }

const kinds: Readonly<Record<string, Kind>> = {
  recurring: { label: 'A price for each period', body: { type: 'recurring' } },
  'post-paid': {
    label: 'Usage, billed after each period',
    body: { type: 'usage-based', billingModel: 'post-paid' },
  },
  'pre-paid': {
    label: 'Usage, paid from credits',
    body: { type: 'usage-based', billingModel: 'pre-paid' },
  },
  hybrid: {
    label: 'A price for each period, and usage',
    body: { type: 'hybrid', billingModel: 'post-paid' },
  },
  'one-time': { label: 'One payment', body: { type: 'one-time' } },
}

const cycles = ['weekly', 'monthly', 'quarterly', 'yearly'] as const

export function CreatePlan({ productRef }: Props): ReactElement {
  return (
    <Action label="Create a plan" refusal={useRefusal('manage')}>
      {(dialog) => <PlanForm productRef={productRef} {...dialog} />}
    </Action>
  )
}

function PlanForm({ productRef, idempotencyKey, close }: Props & Dialog): ReactElement {
  const { hooks, environment } = useApi()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [kind, setKind] = useState('recurring')
  const [billingCycle, setBillingCycle] = useState<(typeof cycles)[number]>('monthly')
  const change = hooks.useMutation('post', '/v1/sdk/products/{productRef}/plans', {
    onSuccess: ({ reference: planRef }) => {
      showChanged('The plan is created. Customers cannot buy it before it is active.')
      close()
      void navigate({
        to: '/$environment/products/$productRef/plans/$planRef',
        params: { environment, productRef, planRef },
      })
    },
  })
  const hasPeriods = kind !== 'one-time' && kind !== 'pre-paid'
  return (
    <ActionForm
      text="The plan begins inactive. Set its prices on its page, try them, and then make it active. The kind of a plan never changes."
      submitLabel="Create the plan"
      change={change}
      close={close}
      onSubmit={() => {
        change.mutate({
          params: { path: { productRef } },
          body: {
            ...kinds[kind]?.body,
            ...{ name, status: 'inactive' },
            ...(hasPeriods ? { billingCycle } : {}),
          },
          headers: { 'Idempotency-Key': idempotencyKey },
        })
      }}
    >
      <TextInput
        label="Name"
        required
        value={name}
        onChange={(event) => {
          setName(event.currentTarget.value)
        }}
        data-autofocus
      />
      <NativeSelect
        label="What customers pay for"
        value={kind}
        onChange={(event) => {
          setKind(event.currentTarget.value)
        }}
        data={Object.entries(kinds).map(([value, { label }]) => ({ value, label }))}
      />
      {hasPeriods && (
        <NativeSelect
          label="Period"
          value={billingCycle}
          onChange={(event) => {
            const chosen = cycles.find((each) => each === event.currentTarget.value)
            if (chosen !== undefined) setBillingCycle(chosen)
          }}
          data={[...cycles]}
        />
      )}
    </ActionForm>
  )
}
