import type { ComponentProps } from 'preact';

/** A small button beside what it acts on. */
export const Pill = (props: ComponentProps<'button'>) => <button type="button" class="pill" {...props} />;
