import type { ListedFile } from './lake-facts.ts';
import type { LocalFile } from './read-footers.ts';

/** Where a lake lies: a folder of this machine, or a bucket. */
export interface LakeSource {
  /** As the operator wrote it. */
  readonly location: string;
  /**
   * Everything in the lake, or in one folder of it, which may be missing. Rejects with an OperatorFault where the lake
   * can't be listed.
   */
  list(folder?: string): Promise<ListedFile[]>;
  /** Puts the files' footers where DuckDB can read them. */
  footersOf(listed: readonly ListedFile[]): Promise<LocalFiles>;
  /** Puts whole files there. */
  filesOf(listed: readonly ListedFile[]): Promise<LocalFiles>;
  /** A digest of the whole content. */
  digestOf(file: ListedFile): Promise<string>;
}

/** Files that can be read until they are disposed of. */
export interface LocalFiles extends AsyncDisposable {
  readonly files: readonly LocalFile[];
}
