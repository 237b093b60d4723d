! What calls.c does, through mpif.h.
program calls_mpif
  implicit none
  include 'mpif.h'
  integer :: rank, ranks, other, step, one, ierror, in, out, requests(2)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  other = mod(rank + 1, ranks)
  in = 1
  do step = 1, 10
    call MPI_Irecv(out, 1, MPI_INTEGER, other, 0, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(in, 1, MPI_INTEGER, other, 0, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    in = in + out
  end do
  call MPI_Comm_split(MPI_COMM_WORLD, rank, 0, one, ierror)
  call MPI_Barrier(one, ierror)
  call MPI_Comm_free(one, ierror)
  call MPI_Reduce(in, out, 1, MPI_INTEGER, MPI_SUM, ranks - 1, MPI_COMM_WORLD, ierror)
  call MPI_Allreduce(MPI_IN_PLACE, in, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierror)
  call MPI_Sendrecv(in, 1, MPI_INTEGER, other, 1, out, 1, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE, ierror)
  call MPI_Send(in, 1, MPI_INTEGER, MPI_PROC_NULL, 2, MPI_COMM_WORLD, ierror)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a, i0)', 'result ', in + out
end program
