import type { ReactElement } from 'react'
import type { Provider } from '@tollgate/domain/providers/repository'

export function ProviderSelect(props: { readonly providers: readonly Provider[] }): ReactElement {
  return (
    <label>
      Provider
      <select name="providerId">
        {props.providers.map(({ providerId, name }) => (
          <option key={providerId} value={providerId}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
