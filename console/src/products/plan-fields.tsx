import { Button, Group, NativeSelect, Stack, TextInput, Title } from '@mantine/core'
import type { ReactElement } from 'react'
import { useApi } from '../session/environment-api.tsx'
import { ChargeFields } from './charge-fields.tsx'
import { newCharge, type ChargeDraft } from './charge-draft.ts'
import styles from './plan-fields.module.css'
import { fieldNames, type PlanDraft } from './plan-draft.ts'
import type { Plan } from './plan.ts'

type Props = {
  readonly plan: Plan
  readonly draft: PlanDraft
  readonly onChange: (draft: PlanDraft) => void
}

const statuses: readonly Plan['status'][] = [...(['active', 'inactive', 'archived'] as const)]

/** Shows the terms of a plan as fields. */
export function PlanFields({ plan, draft, onChange }: Props): ReactElement {
  return (
    <Stack gap="xs">
      <div className={styles['fields']}>
        <Field field="name" {...{ plan, draft, onChange }} />
        <NativeSelect
          label={fieldNames.status}
          value={draft.status}
          onChange={(event) => {
            const status = statuses.find((each) => each === event.currentTarget.value)
            if (status !== undefined) onChange({ ...draft, status })
          }}
          data={[...statuses]}
        />
        {shownFields(plan, draft).map((field) => (
          <Field key={field} field={field} {...{ plan, draft, onChange }} />
        ))}
      </div>
      <Charges {...{ plan, draft, onChange }} />
    </Stack>
  )
}

type TextField = Exclude<keyof PlanDraft, 'status' | 'charges'>

/** Returns the fields that apply to the kind of the plan. A plan with charges has no other price of requests. */
function shownFields(plan: Plan, draft: PlanDraft): readonly TextField[] {
  const { type, billingModel = 'pre-paid' } = plan
  const isPostPaid = type === 'hybrid' || (type === 'usage-based' && billingModel === 'post-paid')
  const hasCharges = draft.charges.length > 0
  return [
    ...(type === 'usage-based' && isPostPaid ? [] : (['price'] as const)),
    ...(type === 'usage-based' ? [] : (['setupFee'] as const)),
    ...(isPostPaid ? (['minimumCommitment'] as const) : []),
    ...(hasCharges || type === 'recurring' || type === 'one-time'
      ? []
      : (['creditsPerUnit'] as const)),
    ...(hasCharges ? [] : (['freeUnits', 'limit'] as const)),
  ]
}

function Field({
  plan,
  draft,
  onChange,
  field,
}: Props & { readonly field: TextField }): ReactElement {
  const isMoney = field === 'price' || field === 'setupFee' || field === 'minimumCommitment'
  return (
    <TextInput
      label={isMoney ? `${fieldNames[field]} in ${plan.currency}` : fieldNames[field]}
      inputMode={field === 'name' ? 'text' : 'decimal'}
      value={draft[field]}
      onChange={(event) => {
        onChange({ ...draft, [field]: event.currentTarget.value })
      }}
    />
  )
}

function Charges({ plan, draft, onChange }: Props): ReactElement {
  const { hooks } = useApi()
  const { data } = hooks.useSuspenseQuery('get', '/v1/ui/meters', {})
  const meters = data.meters.filter(({ status }) => status === 'active').map(({ name }) => name)
  const { charges } = draft
  const set = (next: readonly ChargeDraft[]): void => {
    onChange({ ...draft, charges: next })
  }
  return (
    <Stack gap="sm" mt="xs">
      <Title order={3} size="h5">
        Charges
      </Title>
      {charges.map((charge, index) => (
        <ChargeFields
          // A charge has no name of its own while it is typed, and charges keep their order.
          key={index}
          label={`Charge ${index + 1}`}
          currency={plan.currency}
          meters={meters}
          charge={charge}
          onChange={(next) => {
            set(charges.map((each, at) => (at === index ? next : each)))
          }}
          onRemove={() => {
            set(charges.filter((_, at) => at !== index))
          }}
        />
      ))}
      <Group>
        <Button
          size="xs"
          variant="default"
          onClick={() => {
            set([...charges, { ...newCharge, meter: meters[0] ?? '' }])
          }}
        >
          Add a charge
        </Button>
      </Group>
    </Stack>
  )
}
