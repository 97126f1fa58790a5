import { NativeSelect, NumberInput, Slider, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData } from '@tanstack/react-query'
import { useMemo, useState, type ReactElement } from 'react'
import { installationUrl } from '../api/addresses.ts'
import type { Answer } from '../api/answers.ts'
import { formatAmount, formatCount, formatNumberOf } from '../formats/amounts.ts'
import { curlOf } from '../formats/curl.ts'
import { ChartOrTable } from '../parts/chart-or-table.tsx'
import { CopyText } from '../parts/copy-text.tsx'
import { Failure } from '../parts/failure.tsx'
import { Loading } from '../parts/boundary.tsx'
import { RowsTable, type Column } from '../parts/rows-table.tsx'
import { useApi } from '../session/environment-api.tsx'
import { readWhen, type ChargeDraft } from './charge-draft.ts'
import { pricedUnits, unitsMaxOf } from './priced-units.ts'
import type { Plan, PlanChanges, PlanPath } from './plan.ts'
import styles from './plan-fields.module.css'

type Props = {
  readonly plan: Plan
  readonly path: PlanPath
  /** Charges as they are typed. */
  readonly charges: readonly ChargeDraft[]
  /** Unsaved changes of the plan. */
  readonly changes: PlanChanges
}

type Curve = Answer<'previewPriceCurve'>

/** A request waits until nothing was moved or typed for so long. */
const typingDelayMs = 300

/** Shows what a customer pays for one period at a usage, by the plan as it is and with the unsaved changes. */
export function PricePreview({ plan, path, charges, changes }: Props): ReactElement {
  const meters = [...new Set(charges.map(({ meter }) => meter))]
  const [chosen, choose] = useState<string>()
  const meter = meters.find((each) => each === chosen) ?? meters[0] ?? 'requests'
  const [typedMax, setTypedMax] = useState<number>()
  const [typedUnits, setUnits] = useState<number>()
  const [dimensions, setDimensions] = useState('')
  const unitsMax = typedMax ?? unitsMaxOf(plan, charges, meter)
  const units = Math.min(typedUnits ?? Math.round(unitsMax / 2), unitsMax)
  const typed = useMemo(() => ({ units, unitsMax, dimensions }), [units, unitsMax, dimensions])
  const [asked] = useDebouncedValue(typed, typingDelayMs)
  const hasDimensions = charges.some(({ model, rest }) => model === 'matrix' || rest.where)
  const when = readWhen(hasDimensions ? asked.dimensions : '')
  const body = {
    meter,
    units: [...pricedUnits(asked.unitsMax, asked.units)],
    ...(when === undefined || Object.keys(when).length === 0 ? {} : { dimensions: when }),
  }
  return (
    <Stack gap="sm">
      <div className={styles['fields']}>
        {meters.length > 1 && (
          <NativeSelect
            label="Meter"
            value={meter}
            onChange={(event) => {
              choose(event.currentTarget.value)
            }}
            data={meters}
          />
        )}
        <NumberInput
          label="Up to units"
          min={1}
          max={9e9}
          allowDecimal={false}
          thousandSeparator=","
          value={unitsMax}
          onChange={(value) => {
            if (typeof value === 'number' && value >= 1) setTypedMax(value)
          }}
        />
        {hasDimensions && (
          <TextInput
            label="Dimensions"
            placeholder="model=large"
            value={dimensions}
            error={when === undefined && 'Write dimensions as "model=large, region=eu".'}
            onChange={(event) => {
              setDimensions(event.currentTarget.value)
            }}
          />
        )}
      </div>
      <Text size="sm">
        Usage of {meter} in one period: <strong>{formatNumberOf(units, 'unit')}</strong>
      </Text>
      <Slider
        thumbLabel={`Units of ${meter}`}
        min={0}
        max={unitsMax}
        step={Math.max(1, Math.round(unitsMax / 200))}
        value={units}
        onChange={setUnits}
        label={formatCount}
      />
      {when !== undefined && <Curves {...{ path, body, changes }} units={asked.units} />}
    </Stack>
  )
}

type Body = {
  readonly meter: string
  readonly units: number[]
  readonly dimensions?: Record<string, string>
}

function Curves(props: {
  readonly path: PlanPath
  readonly body: Body
  readonly changes: PlanChanges
  readonly units: number
}): ReactElement {
  const { path, body, changes, units } = props
  const { hooks } = useApi()
  const { productRef, planRef } = path
  const params = { path: { productRef, planRef } }
  const options = { placeholderData: keepPreviousData }
  const isChanged = Object.keys(changes).length > 0
  const operation = '/v1/sdk/products/{productRef}/plans/{planRef}/price-curve'
  const saved = hooks.useQuery('post', operation, { params, body }, options)
  const changedBody = { ...body, changes }
  const changed = hooks.useQuery(
    'post',
    operation,
    { params, body: changedBody },
    { ...options, enabled: isChanged },
  )
  // Without changes, the second request is not sent, and its result is that of undone changes.
  const isChangedCurrent = !isChanged || !changed.isPlaceholderData
  const error = saved.error ?? (isChanged ? changed.error : null)
  if (error instanceof Error) return <Failure error={error} />
  if (saved.data === undefined || (isChanged && changed.data === undefined)) return <Loading />
  const url = `${installationUrl}/v1/sdk/products/${productRef}/plans/${planRef}/price-curve`
  return (
    <CurveResult
      saved={saved.data}
      changed={isChanged ? changed.data : undefined}
      isCurrent={!saved.isPlaceholderData && isChangedCurrent}
      units={units}
      command={curlOf(url, isChanged ? changedBody : body)}
    />
  )
}

type Row = {
  readonly units: number
  readonly saved: number
  readonly changed: number | undefined
}

function CurveResult(props: {
  readonly saved: Curve
  readonly changed: Curve | undefined
  /** False while the curves are those of the request before. */
  readonly isCurrent: boolean
  readonly units: number
  readonly command: string
}): ReactElement {
  const { saved, changed, isCurrent, units, command } = props
  const changedTotals = new Map(changed?.points.map((point) => [point.units, point.total]))
  const amount = (minor: number): string => formatAmount(minor, saved.currency)
  const rows: readonly Row[] = saved.points.map((point) => ({
    units: point.units,
    saved: point.total,
    changed: changedTotals.get(point.units),
  }))
  const now = rows.find((row) => row.units === units)
  const columns: Column<Row>[] = [
    { label: 'Units', cell: (row) => formatCount(row.units), isNumber: true },
    { label: 'As saved', cell: (row) => amount(row.saved), isNumber: true },
  ]
  // While one curve is that of the request before, its points may be at other units.
  const isPaired = rows.every((row) => row.changed !== undefined)
  if (isPaired && isCurrent) {
    columns.push({
      label: 'With your changes',
      cell: (row) => (row.changed === undefined ? '' : amount(row.changed)),
      isNumber: true,
    })
  }
  return (
    <>
      <Text role="status">
        {now === undefined || !isCurrent ? (
          'Computing…'
        ) : (
          <>
            For {formatNumberOf(units, 'unit')}, the customer pays{' '}
            <strong>{amount(now.changed ?? now.saved)}</strong>
            {now.changed !== undefined && `, and ${amount(now.saved)} as saved`}, without tax.
            {(changed ?? saved).price > 0 &&
              ` The period itself costs ${amount((changed ?? saved).price)} of it.`}
          </>
        )}
      </Text>
      <ChartOrTable
        chart={{
          ...{ name: 'Price over usage', kind: 'line', format: amount },
          series: [
            { label: 'As saved', isPale: isPaired },
            ...(isPaired ? [{ label: 'With your changes' }] : []),
          ],
          points: rows.map((row) => ({
            label: formatCount(row.units),
            values: [row.saved, ...(isPaired && row.changed !== undefined ? [row.changed] : [])],
          })),
        }}
        table={
          <RowsTable
            label="Price over usage"
            columns={columns}
            rows={rows}
            keyOf={(row) => String(row.units)}
          />
        }
        copies={<CopyText label="Copy as curl" text={command} />}
      />
    </>
  )
}
