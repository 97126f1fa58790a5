import type { ReactElement } from 'react'
import { countriesIn, elsewhere } from './countries.ts'
import type { Reader } from './reader.ts'

type CountrySelectProps = {
  readonly reader: Reader
  readonly value: string
  readonly isRequired: boolean
  /** Whether a state of the US is a choice in place of the country. */
  readonly hasStates: boolean
  /** A known country can be changed but not removed. */
  readonly isKnown: boolean
  readonly isInvalid: boolean
  /** Id of the element with the complaint about the country. */
  readonly describedBy: string | undefined
}

/** The label and the select element for the customer's country. */
export function CountrySelect(props: CountrySelectProps): ReactElement {
  const { reader, value, isRequired, hasStates, isKnown, isInvalid, describedBy } = props
  const { t } = reader
  return (
    <>
      <label htmlFor="country">{t('shared:country')}</label>
      <select
        id="country"
        name="country"
        defaultValue={value}
        required={isRequired}
        autoComplete="country"
        aria-invalid={isInvalid}
        aria-describedby={describedBy}
      >
        <option value="">{t('shared:chooseCountry')}</option>
        {countriesIn(reader, hasStates).map(({ code, name }) => (
          <option key={code} value={code}>
            {name}
          </option>
        ))}
        {!isKnown && <option value={elsewhere}>{t('shared:anotherCountry')}</option>}
      </select>
    </>
  )
}
