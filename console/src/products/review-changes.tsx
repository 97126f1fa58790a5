import { Alert, Button, Stack, Text, Title } from '@mantine/core'
import type { ReactElement } from 'react'
import type { Answer } from '../api/answers.ts'
import { formatAmount, formatNumberOf } from '../formats/amounts.ts'
import { Action, ActionForm, type Dialog } from '../parts/action.tsx'
import { Loading } from '../parts/boundary.tsx'
import { CustomerLink } from '../parts/customer-link.tsx'
import { RowsTable, type Column } from '../parts/rows-table.tsx'
import { showChanged } from '../parts/show-changed.ts'
import { useApi } from '../session/environment-api.tsx'
import { useRefusal } from '../session/user.ts'
import { planDiff, type DiffRow } from './plan-diff.ts'
import { isOutdated } from './plan-draft.ts'
import type { Plan, PlanChanges, PlanPath } from './plan.ts'

type Props = {
  /** The plan from which the changes began. */
  readonly plan: Plan
  readonly path: PlanPath
  readonly changes: PlanChanges
  readonly onSaved: (saved: Plan) => void
  readonly onDiscard: () => void
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
const planOperation = '/v1/sdk/products/{productRef}/plans/{planRef}'

/**
 * Reads the plan again when the review opens and before it is saved. Changes that began with an older plan are not saved: the list of
 * charges is sent as a whole, so it would remove a charge that was added meanwhile. The API has no condition for an update, so a save in
 * the moment between the second read and the update is not noticed.
 */
function ReviewForm(props: Props & Dialog): ReactElement {
  const { plan, path, changes, onSaved, onDiscard, idempotencyKey, close } = props
  const { hooks, queries } = useApi()
  const { productRef, planRef } = path
  const params = { path: { productRef, planRef } }
  const { data: preview } = hooks.useSuspenseQuery(
    'post',
    `${planOperation}/change-preview`,
    { params: { ...params, query: { limit: shownHolders } }, body: changes },
    { staleTime: 0, gcTime: 0 },
  )
  const latest = hooks.useQuery('get', planOperation, { params }, { refetchOnMount: 'always' })
  const change = hooks.useMutation('put', planOperation, {
    onSuccess: (saved) => {
      queries.setQueryData(hooks.queryOptions('get', planOperation, { params }).queryKey, saved)
      onSaved(saved)
      showChanged('The plan is changed.')
      close()
    },
  })
  if (!latest.isFetchedAfterMount) return <Loading />
  if (latest.data !== undefined && isOutdated(plan, latest.data)) {
    return <SavedMeanwhile onDiscard={onDiscard} />
  }
  const save = async (): Promise<void> => {
    const { data, isSuccess } = await latest.refetch()
    if (!isSuccess || isOutdated(plan, data)) return
    change.mutate({ params, body: changes, headers: { 'Idempotency-Key': idempotencyKey } })
  }
  return (
    <ActionForm
      text="The new terms apply to purchases that begin from now on."
      submitLabel="Save the plan"
      change={{
        isPending: change.isPending || latest.isFetching,
        error: change.error ?? latest.error,
      }}
      close={close}
      onSubmit={() => {
        void save()
      }}
    >
      <RowsTable
        label="Changes"
        columns={diffColumns}
        rows={planDiff(plan, changes)}
        keyOf={({ field }) => field}
      />
      <Holders preview={preview} />
    </ActionForm>
  )
}

/** Says that the changes cannot be saved, and offers to begin again. */
export function SavedMeanwhile({ onDiscard }: { readonly onDiscard: () => void }): ReactElement {
  return (
    <Alert variant="default" role="alert" title="The plan was saved meanwhile">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          This plan was saved after you began to change it. Your changes cannot be saved, because
          they could undo what was saved. Note them, discard them, and make them again.
        </Text>
        <Button size="xs" variant="default" onClick={onDiscard}>
          Discard my changes and load the plan
        </Button>
      </Stack>
    </Alert>
  )
}

function Holders({ preview }: { readonly preview: Answer<'previewPlanUpdate'> }): ReactElement {
  return (
    <>
      <Title order={3} size="h5">
        {formatNumberOf(preview.total, 'purchase')} with the plan
      </Title>
      {preview.total === 0 ? (
        <Text size="sm">No purchase has this plan yet.</Text>
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
    </>
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
