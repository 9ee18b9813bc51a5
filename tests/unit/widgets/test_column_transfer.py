import struct

import numpy as np

from paimon_explore.widgets.column_transfer import pack_columns


def test_columns_take_the_narrowest_type_and_start_at_multiples_of_8() -> None:
    specs, data = pack_columns(
        {
            "small": np.array([1, 255]),
            "negative": np.array([-2, 100]),
            "middle": np.array([65_536]),
            "large": np.array([2**40]),
            "real": np.array([0.5]),
            "none": np.array([], np.int64),
        }
    )
    assert specs == [
        ("small", "u8", 0, 2),
        ("negative", "i8", 8, 2),
        ("middle", "u32", 16, 1),
        ("large", "f64", 24, 1),
        ("real", "f64", 32, 1),
        ("none", "u8", 40, 0),
    ]
    assert data[:2] == b"\x01\xff"
    assert struct.unpack_from("<bb", data, 8) == (-2, 100)
    assert struct.unpack_from("<I", data, 16) == (65_536,)
    assert struct.unpack_from("<dd", data, 24) == (2.0**40, 0.5)
    assert len(data) == 40
