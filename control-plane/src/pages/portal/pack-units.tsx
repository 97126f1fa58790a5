import type { ReactElement } from 'react'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import type { ShownPack } from '../../purchases/read-pack-units.ts'
import type { Reader } from '../reader.ts'

type PackUnitsProps = {
  /** Reference of the purchase of the pack. */
  readonly reference: string
  readonly pack: ShownPack
  readonly reader: Reader
}

/** Shows how many units of a bought pack are left. */
export function PackUnits({ reference, pack, reader }: PackUnitsProps): ReactElement {
  const { t, formats } = reader
  const { left, units, meterName } = pack
  const id = `left-${reference}`
  const words = [
    t('portal:packUnitsLeft', { left: formats.count(left), units: formats.count(units) }),
    ...(meterName === requestsMeterName ? [] : [meterName]),
  ]
  return (
    <div className="usage">
      <label htmlFor={id}>{words.join(' · ')}</label>
      <progress id={id} value={units - left} max={units} />
    </div>
  )
}
