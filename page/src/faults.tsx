import { faultsAt } from './state.ts';

/** The faults of a parameter, to stand below its input. Their element has the id that `faultAttributes` refers to. */
export function Faults({ of, id }: { readonly of: string; readonly id: string }) {
  const details = faultsAt(of);
  if (details.length === 0) return null;
  return (
    <div class="faults" id={id} role="alert">
      {details.map((detail) => (
        <p key={detail}>{detail}</p>
      ))}
    </div>
  );
}

/** The attributes of an input whose parameter is at fault. */
export const faultAttributes = (parameter: string, id: string) =>
  faultsAt(parameter).length > 0 ? { 'aria-invalid': true, 'aria-describedby': id } : {};
