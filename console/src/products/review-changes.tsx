import { Stack, Text, Title } from '@mantine/core'
import type { ReactElement } from 'react'
import type { Answer } from '../api/answers.ts'
import { formatAmount, formatNumberOf } from '../formats/amounts.ts'
import { Action, ActionForm, type Dialog } from '../parts/action.tsx'
import { CustomerLink } from '../parts/customer-link.tsx'
import { RowsTable, type Column } from '../parts/rows-table.tsx'
import { showChanged } from '../parts/show-changed.ts'
import { useApi } from '../session/environment-api.tsx'
import { useRefusal } from '../session/user.ts'
import { planDiff, type DiffRow } from './plan-diff.ts'
import type { Plan, PlanChanges, PlanPath } from './plan.ts'

type Props = {
  readonly plan: Plan
  readonly path: PlanPath
  readonly changes: PlanChanges
}

/** Shows what a change does before it is saved. */
export function ReviewChanges(props: Props): ReactElement {
  return (
    <Action label="Review and save" refusal={useRefusal('manage')} size="xl">
      {(dialog) => <ReviewForm {...props} {...dialog} />}
    </Action>
  )
}

const shownHolders = 10

function ReviewForm(props: Props & Dialog): ReactElement {
  const { plan, path, changes, idempotencyKey, close } = props
  const { hooks } = useApi()
  const { productRef, planRef } = path
  const params = { path: { productRef, planRef } }
  const { data: preview } = hooks.useSuspenseQuery(
    'post',
    '/v1/sdk/products/{productRef}/plans/{planRef}/change-preview',
    { params: { ...params, query: { limit: shownHolders } }, body: changes },
    { staleTime: 0, gcTime: 0 },
  )
  const change = hooks.useMutation('put', '/v1/sdk/products/{productRef}/plans/{planRef}', {
    onSuccess: () => {
      showChanged('The plan is changed.')
      close()
    },
  })
  return (
    <ActionForm
      text="The new terms apply to purchases that begin from now on."
      submitLabel="Save the plan"
      change={change}
      close={close}
      onSubmit={() => {
        change.mutate({ params, body: changes, headers: { 'Idempotency-Key': idempotencyKey } })
      }}
    >
      <RowsTable
        label="Changes"
        columns={diffColumns}
        rows={planDiff(plan, changes)}
        keyOf={({ field }) => field}
      />
      <Title order={3} size="h5">
        {formatNumberOf(preview.total, 'purchase')} with the plan
      </Title>
      {preview.total === 0 ? (
        <Text size="sm">Nobody has the plan yet.</Text>
      ) : (
        <Stack gap="xs">
          <Text size="sm">
            They keep their terms. After saving, you can move them to the new ones on this page. The
            table shows their last complete period by both, without tax.
          </Text>
          <HolderTable holders={preview.holders} />
          {preview.total > shownHolders && (
            <Text size="sm" c="dimmed">
              The newest {shownHolders} of {formatNumberOf(preview.total, 'purchase')}.
            </Text>
          )}
        </Stack>
      )}
    </ActionForm>
  )
}

function linesOf(lines: readonly string[]): ReactElement[] {
  return lines.map((line) => <div key={line}>{line}</div>)
}

const diffColumns: readonly Column<DiffRow>[] = [
  { label: 'Field', cell: ({ field }) => field },
  { label: 'Before', cell: ({ before }) => linesOf(before) },
  { label: 'After', cell: ({ after }) => linesOf(after) },
]

export type Holder = Pick<
  Answer<'previewPlanUpdate'>['holders'][number],
  'purchaseRef' | 'customerRef' | 'currency' | 'before' | 'after' | 'difference'
>

/** Columns of what a holder pays by both terms. */
export const holderColumns: readonly Column<Holder>[] = [
  {
    label: 'Customer',
    cell: ({ customerRef }) => <CustomerLink customerRef={customerRef}>{customerRef}</CustomerLink>,
  },
  {
    label: 'Last period now',
    cell: ({ before, currency }) =>
      before === undefined ? 'None yet' : formatAmount(before.total, currency),
    isNumber: true,
  },
  {
    label: 'With the change',
    cell: ({ after, currency }) => (after === undefined ? '' : formatAmount(after.total, currency)),
    isNumber: true,
  },
  {
    label: 'Difference',
    cell: ({ difference, currency }) =>
      difference === undefined ? '' : formatAmount(difference, currency),
    isNumber: true,
  },
]

function HolderTable({ holders }: { readonly holders: readonly Holder[] }): ReactElement {
  return (
    <RowsTable
      label="Purchases with the plan"
      columns={holderColumns}
      rows={holders}
      keyOf={({ purchaseRef }) => purchaseRef}
    />
  )
}
