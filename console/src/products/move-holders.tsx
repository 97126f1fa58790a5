import { NativeSelect, NumberInput, Text } from '@mantine/core'
import { useState, type ReactElement } from 'react'
import type { Answer } from '../api/answers.ts'
import { formatAmount, formatNumberOf } from '../formats/amounts.ts'
import { Action, ActionForm, type Dialog } from '../parts/action.tsx'
import { Loading } from '../parts/boundary.tsx'
import { Failure } from '../parts/failure.tsx'
import { RowsTable, type Column } from '../parts/rows-table.tsx'
import { showChanged } from '../parts/show-changed.ts'
import { Time } from '../parts/time.tsx'
import { useApi } from '../session/environment-api.tsx'
import { useRefusal } from '../session/user.ts'
import { holderColumns } from './review-changes.tsx'
import type { Plan, PlanPath } from './plan.ts'

type Props = { readonly plan: Plan; readonly path: PlanPath }
type Holder = Answer<'previewPlanMigration'>['holders'][number]

/** Moves the holders of the plan to its current terms. */
export function MoveHolders(props: Props): ReactElement {
  return (
    <Action
      label="Move holders to these terms"
      title={`Move holders to the terms of ${props.plan.name}`}
      refusal={useRefusal('manage')}
      size="xl"
    >
      {(dialog) => <MoveForm {...props} {...dialog} />}
    </Action>
  )
}

const shownHolders = 10
const noticeDaysDefault = 30
const noticeDaysMax = 365

function MoveForm({ path, idempotencyKey, close }: Props & Dialog): ReactElement {
  const { hooks } = useApi()
  const [when, setWhen] = useState<'renewal' | 'now'>('renewal')
  const [days, setDays] = useState(noticeDaysDefault)
  const { productRef, planRef } = path
  const params = { path: { productRef, planRef } }
  const body = { when, notice: days === 0 ? (false as const) : days }
  const preview = hooks.useQuery(
    'post',
    '/v1/sdk/products/{productRef}/plans/{planRef}/migration-preview',
    { params: { ...params, query: { limit: shownHolders } }, body },
    { staleTime: 0, gcTime: 0 },
  )
  const change = hooks.useMutation(
    'post',
    '/v1/sdk/products/{productRef}/plans/{planRef}/migrations',
    {
      onSuccess: () => {
        showChanged('The move has begun.')
        close()
      },
    },
  )
  return (
    <ActionForm
      text="Purchases of this plan get the terms that are saved now. Their dates stay the same, and a set-up fee is not charged again."
      submitLabel="Start the move"
      isReady={preview.isSuccess}
      change={change}
      close={close}
      onSubmit={() => {
        change.mutate({ params, body, headers: { 'Idempotency-Key': idempotencyKey } })
      }}
    >
      <NativeSelect
        label="The change takes effect"
        value={when}
        onChange={(event) => {
          setWhen(event.currentTarget.value === 'now' ? 'now' : 'renewal')
        }}
        data={[
          { value: 'renewal', label: 'With the renewal' },
          { value: 'now', label: 'Within the running period, with the difference prorated' },
        ]}
      />
      <NumberInput
        label="Days of notice"
        description="Customers are notified this many days before the change. With 0 days, they are notified after the change."
        min={0}
        max={noticeDaysMax}
        allowDecimal={false}
        value={days}
        onChange={(value) => {
          if (typeof value === 'number') setDays(value)
        }}
      />
      {preview.error instanceof Error && <Failure error={preview.error} />}
      {preview.isPending && <Loading />}
      {preview.isSuccess && <Moved preview={preview.data} />}
    </ActionForm>
  )
}

function Moved({ preview }: { readonly preview: Answer<'previewPlanMigration'> }): ReactElement {
  const { holders, total } = preview
  if (total === 0) return <Text size="sm">No purchase has this plan.</Text>
  return (
    <>
      <RowsTable
        label="Purchases with the plan"
        columns={[...columns, ...holderColumns.slice(1)]}
        rows={holders}
        keyOf={({ purchaseRef }) => purchaseRef}
      />
      {total > holders.length && (
        <Text size="sm" c="dimmed">
          The newest {holders.length} of {formatNumberOf(total, 'purchase')}.
        </Text>
      )}
    </>
  )
}

const columns: readonly Column<Holder>[] = [
  ...(holderColumns.slice(0, 1) as readonly Column<Holder>[]),
  {
    label: 'Result',
    cell: ({ outcome, effectiveAt, charge, currency }) => {
      if (outcome === 'unchanged') return 'Has these terms already'
      if (outcome !== 'moves') return `Skipped: ${outcome.replaceAll('_', ' ')}`
      return (
        <>
          {effectiveAt === undefined ? 'Moves' : <Time instant={effectiveAt} isDay />}
          {charge !== undefined && `, ${formatAmount(charge, currency)} then`}
        </>
      )
    },
  },
]
