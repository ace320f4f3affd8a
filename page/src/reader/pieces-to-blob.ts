/** Pieces are moved into a blob when they have this many bytes, because a blob's bytes are not on the heap. */
const BLOB_BYTES = 4_000_000;

/** Keeps the bytes of a file for the download. */
export function piecesToBlob(type: string) {
  const blobs: Blob[] = [];
  let pieces: Uint8Array<ArrayBuffer>[] = [];
  let pieceBytes = 0;
  const toBlob = () => {
    blobs.push(new Blob(pieces));
    pieces = [];
    pieceBytes = 0;
  };
  return {
    add(piece: Uint8Array<ArrayBuffer>): void {
      pieces.push(piece);
      pieceBytes += piece.length;
      if (pieceBytes >= BLOB_BYTES) toBlob();
    },
    whole(): Blob {
      toBlob();
      return new Blob(blobs, { type });
    },
  };
}
